// What differs between two calls: where they part, and the time of each part. Aligns what both did by the longest common
// subsequence, as the helper does.
import type { Part } from "./call-tree";

export interface Pair {
  readonly one: Part | undefined;
  readonly other: Part | undefined;
}

/** Longer lists are cut, so that the time is bounded. */
const most = 512;

export function align(ones: readonly Part[], others: readonly Part[]): Pair[] {
  const [a, b] = [ones.slice(0, most), others.slice(0, most)];
  const isSame = (i: number, j: number): boolean => a[i]?.key === b[j]?.key;
  const length: number[][] = Array.from({ length: a.length + 1 }, () => Array<number>(b.length + 1).fill(0));
  const common = (i: number, j: number): number => length[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = length[i] ?? [];
    for (let j = b.length - 1; j >= 0; j -= 1) row[j] = isSame(i, j) ? common(i + 1, j + 1) + 1 : Math.max(common(i + 1, j), common(i, j + 1));
  }
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && isSame(i, j)) pairs.push({ one: a[i++], other: b[j++] });
    else if (j === b.length || (i < a.length && common(i + 1, j) >= common(i, j + 1))) pairs.push({ one: a[i++], other: undefined });
    else pairs.push({ one: undefined, other: b[j++] });
  }
  return pairs;
}

/** Parts differ from this share of the longer one on. */
const leastShare = 0.2;
/** Of the difference of both calls; smaller ones are not where they part. */
const leastOfAll = 0.01;

/** Returns when the first call does something else than the other: ns after its start. Undefined: they do the same. */
export function partingOf(one: Part, other: Part): number | undefined {
  const least = leastOfAll * Math.abs(one.latency - other.latency);
  return partingIn(one, other, least);
}

function partingIn(one: Part, other: Part, least: number): number | undefined {
  const known = ({ children }: Part): Part[] => children.filter(({ kind }) => kind !== "lost");
  let at = one.from;
  for (const pair of align(known(one), known(other))) {
    const found = partingAt(pair, at, least);
    if (found !== undefined) return found;
    at = pair.one?.to ?? at;
  }
  return undefined;
}

function partingAt({ one, other }: Pair, at: number, least: number): number | undefined {
  if (one === undefined) return (other?.latency ?? 0) < least ? undefined : at;
  if (other === undefined) return one.latency < least ? undefined : one.from;
  const difference = Math.abs(one.latency - other.latency);
  const isSame = difference < least || difference <= one.resolution + other.resolution || difference <= leastShare * Math.max(one.latency, other.latency);
  return isSame ? undefined : (partingIn(one, other, least) ?? one.from);
}

/** The calls of one function in both calls. Times are ns. */
export interface Difference {
  /** Undefined: everything else, which includes the function's own instructions. */
  readonly name: string | undefined;
  readonly time: number;
  readonly calls: number;
  readonly waiting: number;
  readonly resolution: number;
  readonly otherTime: number;
  readonly otherCalls: number;
  readonly otherResolution: number;
  /** The longest wait in it. */
  readonly wait: Part | undefined;
}

interface Sum {
  time: number;
  calls: number;
  waiting: number;
  resolution: number;
  wait: Part | undefined;
}

/** Returns the waits in a call. */
export function waitsIn(part: Part): Part[] {
  return part.kind === "wait" ? [part] : part.children.flatMap(waitsIn);
}

function sumsOf(root: Part): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const part of root.children) {
    if (part.call === undefined) continue;
    const name = part.call.function ?? "";
    const sum = sums.get(name) ?? { time: 0, calls: 0, waiting: 0, resolution: 0, wait: undefined };
    for (const wait of waitsIn(part)) {
      sum.waiting += wait.latency;
      if (wait.latency > (sum.wait?.latency ?? 0)) sum.wait = wait;
    }
    sums.set(name, { ...sum, time: sum.time + part.latency, calls: sum.calls + 1, resolution: sum.resolution + part.resolution });
  }
  return sums;
}

const nothing: Sum = { time: 0, calls: 0, waiting: 0, resolution: 0, wait: undefined };

/** Returns the parts with the largest difference first, and at last everything else. Each column adds up to its call. */
export function differencesOf(one: Part, other: Part | undefined): Difference[] {
  const [mine, theirs] = [sumsOf(one), other === undefined ? new Map<string, Sum>() : sumsOf(other)];
  const rows = [...new Set([...mine.keys(), ...theirs.keys()])].map((name): Difference => {
    const [a, b] = [mine.get(name) ?? nothing, theirs.get(name) ?? nothing];
    return { name, time: a.time, calls: a.calls, waiting: a.waiting, resolution: a.resolution, wait: a.wait, otherTime: b.time, otherCalls: b.calls, otherResolution: b.resolution };
  });
  rows.sort((a, b) => Math.abs(b.time - b.otherTime) - Math.abs(a.time - a.otherTime));
  const rest = (whole: Part | undefined, of: (row: Difference) => number): number => (whole?.latency ?? 0) - rows.reduce((sum, row) => sum + of(row), 0);
  const uncertain = (whole: Part | undefined, of: (row: Difference) => number): number => (whole?.resolution ?? 0) + rows.reduce((sum, row) => sum + of(row), 0);
  const own = one.children.filter(({ kind }) => kind === "wait").sort((a, b) => b.latency - a.latency);
  return [
    ...rows,
    {
      name: undefined,
      time: rest(one, ({ time }) => time),
      calls: 0,
      waiting: own.reduce((sum, { latency }) => sum + latency, 0),
      resolution: uncertain(one, ({ resolution }) => resolution),
      wait: own[0],
      otherTime: rest(other, ({ otherTime }) => otherTime),
      otherCalls: 0,
      otherResolution: uncertain(other, ({ otherResolution }) => otherResolution),
    },
  ];
}
