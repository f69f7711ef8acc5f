// Which recordings the source shows besides the active one: figures of functions accumulate, the newest of each. Without
// the vscode module.
import type { FunctionSelector } from "../protocol/protocol";
import type { RecordingEntry } from "./recording-entry";

/** Returns a key that is the same for the function in every build of its binary. */
function functionKeyAcrossBuilds({ name, binary = "" }: FunctionSelector): string {
  return `${binary} ${name}`;
}

/** Recordings that are open for this purpose. */
const most = 8;

/**
 * Returns the recordings that measured, in the same target, functions that the active one did not measure. Each is the
 * newest one of at least one function. `recordings` are newest first, and so is the result. An active recording of all
 * functions, or one that was not measured here, is shown alone.
 */
export function alsoShown<Entry extends RecordingEntry>(active: Entry | undefined, recordings: readonly Entry[]): Entry[] {
  if (active?.measuredWith === undefined || active.functions.length === 0) return [];
  const known = new Set(active.functions.map(functionKeyAcrossBuilds));
  const shown: Entry[] = [];
  for (const entry of recordings) {
    const measured = entry.measuredWith !== undefined && entry.target === active.target && entry.key !== active.key;
    const added = measured ? entry.functions.map(functionKeyAcrossBuilds).filter((key) => !known.has(key)) : [];
    if (added.length === 0 || shown.length === most) continue;
    for (const key of added) known.add(key);
    shown.push(entry);
  }
  return shown;
}
