import type { Client } from "../helper/client";
import type { CallsResult, FunctionSelector } from "../protocol/protocol";
import type { CallRow, SlowCall } from "./panel-messages";

const pageSize = 100_000;
const shownBefore = 20;

/**
 * Finds the slowest call that took longer than `threshold` ns, with the calls before it on its thread. Returns undefined
 * if there is none: the recording was stopped earlier.
 */
export async function findSlowCall(client: Client, id: string, selector: FunctionSelector, threshold: number): Promise<SlowCall | undefined> {
  const slow = await client.request("ptlens/calls", { id, function: selector, selection: { latency: [threshold, null] }, limit: pageSize });
  const [slowest] = rows(slow).sort((one, other) => (other.latency ?? 0) - (one.latency ?? 0));
  if (slowest === undefined) return undefined;
  const before: CallRow[] = [];
  for (let offset = 0, total = 1; offset < total; offset += pageSize) {
    const result = await client.request("ptlens/calls", { id, function: selector, selection: { tids: [slowest.tid] }, offset, limit: pageSize });
    total = result.total;
    before.push(...rows(result).filter(({ start }) => start < slowest.start));
    before.splice(0, Math.max(0, before.length - shownBefore));
  }
  return { ...slowest, threshold, before };
}

function boundsOf(bounds: readonly (number | null)[] | null | undefined): Pick<CallRow, "bounds"> {
  return bounds === null || bounds === undefined ? {} : { bounds };
}

function rows({ columns }: CallsResult): CallRow[] {
  return columns.tid.map((tid, index) => ({
    tid,
    start: columns.start[index] ?? 0,
    latency: columns.latency[index] ?? null,
    within: columns.raw_latency === undefined ? 0 : (columns.resolution[index] ?? 0),
    ...boundsOf(columns.bounds?.[index]),
    offCpu: columns.off_cpu[index] ?? 0,
    self: columns.self[index] ?? null,
    state: columns.state[index] ?? "incomplete",
  }));
}
