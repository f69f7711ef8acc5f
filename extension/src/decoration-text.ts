// What is written at the end of a line with call sites.
import type { LineCalls, Recording } from "./protocol";
import { formatCalls, formatCount, formatDuration } from "./units";

/** What of a recording decides which figures are known. */
export type Known = Pick<Recording, "off_cpu_known" | "resolution_ns">;

/** "12.3 µs × 1,000 · off-CPU 5.10 ms total"; nothing when no call was made from the line. */
export function lineText(row: LineCalls, known: Known): string | undefined {
  const parts: string[] = [];
  if (row.calls > 0 && known.resolution_ns === null) {
    parts.push(formatCalls(row.calls), "no timing");
  } else if (row.calls > 0) {
    parts.push(`${formatDuration(row.mean)} × ${formatCount(row.calls)}`);
    if (known.off_cpu_known && row.off_cpu.total > 0) parts.push(`off-CPU ${formatDuration(row.off_cpu.total)} total`);
  }
  if (row.unwound > 0) parts.push(`${formatCount(row.unwound)} unwound`);
  if (row.incomplete > 0) parts.push(`${formatCount(row.incomplete)} incomplete`);
  return parts.length === 0 ? undefined : parts.join(" · ");
}

/**
 * How hot a line is, 0 to 1: its total latency against the hottest line of the file, on a
 * logarithmic scale over four decades.
 */
export function heat(total: number, hottest: number): number {
  if (total <= 0 || hottest <= 0) return 0;
  return Math.max(0, 1 + Math.log10(total / hottest) / 4);
}
