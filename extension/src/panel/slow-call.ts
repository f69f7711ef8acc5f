// The call that a recording was made for: the slowest one above the time asked for, with what led up to it.
import type { Client } from "../helper/client";
import type { CallRow, CaughtCall } from "./panel-messages";
import type { CallsResult, FunctionSelector } from "../protocol/protocol";

const page = 100_000;
const shownBefore = 20;

/** Undefined: no call took that long (the recording was ended before). */
export async function caughtCall(client: Client, id: string, selector: FunctionSelector, slowerThan: number): Promise<CaughtCall | undefined> {
  const slow = await client.request("ptlens/calls", { id, function: selector, latency: [slowerThan, Number.MAX_SAFE_INTEGER], limit: page });
  const [caught] = rows(slow).sort((one, other) => other.latency - one.latency);
  if (caught === undefined) return undefined;
  const onThread: CallRow[] = [];
  for (let offset = 0, total = 1; offset < total; offset += page) {
    const result = await client.request("ptlens/calls", { id, function: selector, tid: caught.tid, offset, limit: page });
    total = result.total;
    onThread.push(...rows(result).filter(({ start }) => start < caught.start));
    onThread.splice(0, Math.max(0, onThread.length - shownBefore));
  }
  return { ...caught, slowerThan, before: onThread };
}

function rows({ columns }: CallsResult): CallRow[] {
  return columns.tid.map((tid, index) => ({
    tid,
    start: columns.start[index] ?? 0,
    latency: columns.latency[index] ?? 0,
    offCpu: columns.off_cpu[index] ?? 0,
    self: columns.self[index] ?? 0,
    state: columns.state[index] ?? "incomplete",
  }));
}
