// What the time of a call went to, in words.
import * as l10n from "@vscode/l10n";
import type { CallsResult } from "../../extension/src/panel/panel-messages";
import { count, time } from "../base/format";
import { shortName } from "../base/names";
import { waitWord } from "../base/wait-words";

type StoredPart = NonNullable<CallsResult["columns"]["parts"]>[number][number];

export interface CallPart extends Omit<StoredPart, "function"> {
  /** Name of the function that was called. */
  readonly name: string;
}

/** A part is called waiting from this share of its time off-CPU on. */
const mostlyWaiting = 0.5;
/** Smaller parts of a call are not worth a word, unless they are its longest. */
const leastShare = 0.005;

/** Text, or a name in the code. */
export type Words = readonly (string | { readonly code: string })[];

/** "waits in `write_audit`, 5.11 ms", "lock wait, 520 µs", "`lookup` 9 ×, 30.0 µs". `selfKnown`: all that the call made was measured. */
export function partWords(part: CallPart, selfKnown: boolean): Words {
  const took = `, ${time(part.time)}`;
  switch (part.kind) {
    case "preempted":
      return [`${l10n.t("preempted")}${took}`];
    case "blocked":
      return [`${part.reason === undefined || part.reason === "unknown" ? l10n.t("waits") : waitWord(part.reason, part.likely)}${took}`];
    case "self":
      return [`${selfKnown ? l10n.t("its own instructions") : l10n.t("everything else")}${took}`];
    case "call": {
      const name = { code: shortName(part.name) };
      if (part.off_cpu >= mostlyWaiting * part.time) return [l10n.t("waits in"), " ", name, `, ${time(part.off_cpu)}`];
      return [name, part.calls > 1 ? ` ${count(part.calls)} ×` : "", took];
    }
  }
}

/** The parts of a call that are worth a word. */
export function partsToTell(parts: readonly CallPart[], latency: number | null): readonly CallPart[] {
  return parts.filter((part, index) => index === 0 || part.time >= leastShare * (latency ?? 0));
}
