// What changed between two recordings, as `ptlens diff --json` judges it.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { asRecord } from "../base/records";
import type { ChangedFunction, Changes, JudgedFigure } from "./panel-messages";

const run = promisify(execFile);
/** Of the JSON, bytes. */
const mostOutput = 256 * 1024 * 1024;

const verdicts = ["faster", "slower", "no_change", "cannot_tell"] as const;
const asNumber = (value: unknown): number => (typeof value === "number" ? value : 0);
const asText = (value: unknown): string => (typeof value === "string" ? value : "");

function judged(value: unknown): JudgedFigure | undefined {
  const { base_ns: base, recording_ns: now, percent, low_percent: low, high_percent: high, verdict } = asRecord(value);
  const known = verdicts.find((each) => each === verdict);
  if (known === undefined) return undefined;
  return { base: asNumber(base), now: asNumber(now), percent: asNumber(percent), lowPercent: asNumber(low), highPercent: asNumber(high), verdict: known };
}

const callsOf = (side: unknown): number => asNumber(asRecord(asRecord(side).calls).complete);

/** Reads the output of `ptlens diff --json`. Functions without a judgement are left out. */
export function changesFrom(output: unknown, command: readonly string[]): Changes {
  const { functions, notes } = asRecord(output);
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  return {
    functions: list(functions).flatMap((each): ChangedFunction[] => {
      const { name, binary, address, base, recording, difference } = asRecord(each);
      const [mean, p99] = [judged(asRecord(difference).mean), judged(asRecord(difference).p99)];
      if (mean === undefined || p99 === undefined) return [];
      return [{ name: asText(name), binary: asText(binary), address: typeof address === "string" ? address : null, baseCalls: callsOf(base), nowCalls: callsOf(recording), mean, p99 }];
    }),
    notes: list(notes).map((note) => asText(asRecord(note).text)),
    command,
  };
}

/** Compares two recordings. */
export async function findChanges(helper: string, base: string, now: string): Promise<Changes> {
  const args = ["diff", base, now, "--json"];
  const { stdout } = await run(helper, args, { maxBuffer: mostOutput });
  return changesFrom(JSON.parse(stdout), ["ptlens", ...args.slice(0, -1)]);
}
