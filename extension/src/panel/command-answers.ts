// Answers that only the helper's command line gives: what changed between two recordings, and what calls waited for.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { asRecord } from "../base/records";
import type { ChangedFunction, Changes, JudgedFigure, Wait, Waits } from "./panel-messages";

const run = promisify(execFile);
/** Of the JSON, bytes. */
const mostOutput = 256 * 1024 * 1024;

async function answer(helper: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(helper, [...args, "--json"], { maxBuffer: mostOutput });
  return JSON.parse(stdout) as unknown;
}

const verdicts = ["faster", "slower", "no_change", "cannot_tell"] as const;
const asNumber = (value: unknown): number => (typeof value === "number" ? value : 0);
const asText = (value: unknown): string => (typeof value === "string" ? value : "");
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

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
  return {
    functions: asList(functions).flatMap((each): ChangedFunction[] => {
      const { name, binary, address, base, recording, difference } = asRecord(each);
      const [mean, p99] = [judged(asRecord(difference).mean), judged(asRecord(difference).p99)];
      if (mean === undefined || p99 === undefined) return [];
      return [{ name: asText(name), binary: asText(binary), address: typeof address === "string" ? address : null, baseCalls: callsOf(base), nowCalls: callsOf(recording), mean, p99 }];
    }),
    notes: asList(notes).map((note) => asText(asRecord(note).text)),
    command,
  };
}

/** Compares two recordings. */
export async function findChanges(helper: string, base: string, now: string): Promise<Changes> {
  const args = ["diff", base, now];
  return changesFrom(await answer(helper, args), ["ptlens", ...args]);
}

function waitFrom(value: unknown): Wait {
  const { reason, intervals, calls, total, max, function: name, file, line, called, lock, likely, wakers } = asRecord(value);
  return {
    reason: asText(reason),
    intervals: asNumber(intervals),
    calls: asNumber(calls),
    total: asNumber(total),
    longest: asNumber(max),
    function: asText(name),
    file: asText(file),
    line: asNumber(line),
    called: asText(called),
    lock: asText(lock),
    likely: likely === true,
    wakers: asList(wakers).map((waker) => ({ text: asText(asRecord(waker).text), total: asNumber(asRecord(waker).total), file: asText(asRecord(waker).file), line: asNumber(asRecord(waker).line) })),
  };
}

/** Reads the output of `ptlens waits --json`. */
export function waitsFrom(output: unknown): Waits {
  const { total, waiting_calls: waiting, recorded, reasons, rows } = asRecord(asRecord(output).waits);
  return {
    total: asNumber(total),
    waitingCalls: asNumber(waiting),
    recorded: recorded === true,
    reasons: asList(reasons).map((each) => asText(asRecord(each).reason)),
    rows: asList(rows).map(waitFrom),
  };
}

/** Finds what calls waited for. `args`: recording, function and selection, as on the command line. */
export async function findWaits(helper: string, args: readonly string[]): Promise<Waits> {
  return waitsFrom(await answer(helper, ["waits", ...args]));
}
