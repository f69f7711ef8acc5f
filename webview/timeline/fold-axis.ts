// The axis of time of one call. It folds the middle of long waits, but never a stretch in which the other call still runs.

export interface Interval {
  readonly from: number;
  readonly to: number;
}

export interface Fold extends Interval {
  /** Pixels */
  readonly width: number;
}

export interface TimeAxis {
  readonly end: number;
  readonly folds: readonly Fold[];
  /** The place of a time, ns after the start, in pixels. */
  readonly place: (time: number) => number;
}

const widest = 120;
const narrowest = 48;
/** Folds take at most this share of the width. */
const mostFolded = 0.4;
/** Of the time that is not folded, so much stays in sight before a fold and after it. */
const [before, after] = [0.2, 0.03];
/** A wait of less than this share of the rest is not folded. */
const leastShare = 0.5;

/** Returns the parts of an interval in which none of `running` is. */
function outside({ from, to }: Interval, running: readonly Interval[]): Interval[] {
  let rest: Interval[] = [{ from, to }];
  for (const cut of running) {
    rest = rest.flatMap((each) => [
      ...(cut.from > each.from ? [{ from: each.from, to: Math.min(each.to, cut.from) }] : []),
      ...(cut.to < each.to ? [{ from: Math.max(each.from, cut.to), to: each.to }] : []),
    ]);
  }
  return rest.filter((each) => each.to > each.from);
}

/** Returns when a call runs: from its start to its end, without its waits. */
export function runningIn(end: number, waits: readonly Interval[]): Interval[] {
  return outside({ from: 0, to: end }, waits);
}

/** `waits`: of the call. `running`: when the other call runs. */
export function foldsOf(end: number, waits: readonly Interval[], running: readonly Interval[], width: number): Fold[] {
  const longest = waits.flatMap((wait) => outside(wait, running)).sort((a, b) => b.to - b.from - (a.to - a.from));
  const chosen: Interval[] = [];
  let rest = end;
  for (const { from, to } of longest.slice(0, Math.floor((mostFolded * width) / narrowest))) {
    const shown = rest - (to - from);
    if (to - from < leastShare * Math.max(shown, 1)) break;
    chosen.push({ from, to });
    rest = shown;
  }
  // A call that only waits would have nothing to compare with.
  const scale = Math.max(rest, end / 1000);
  const each = Math.min(widest, Math.max(narrowest, (mostFolded * width) / Math.max(1, chosen.length)));
  return chosen
    .map(({ from, to }) => ({ from: from + Math.min(before * scale, (to - from) / 3), to: to - Math.min(after * scale, (to - from) / 3), width: each }))
    .sort((a, b) => a.from - b.from);
}

export function axisOf(end: number, folds: readonly Fold[], width: number): TimeAxis {
  const folded = folds.reduce((sum, fold) => sum + fold.width, 0);
  const time = folds.reduce((sum, { from, to }) => sum - (to - from), end);
  const scale = (width - folded) / Math.max(1, time);
  const place = (at: number): number => {
    let x = 0;
    let last = 0;
    for (const fold of folds) {
      if (at <= fold.from) break;
      x += (fold.from - last) * scale;
      if (at < fold.to) return x + ((at - fold.from) / (fold.to - fold.from)) * fold.width;
      x += fold.width;
      last = fold.to;
    }
    return x + (at - last) * scale;
  };
  return { end, folds, place };
}

/** Pixels between ticks. */
const apart = 88;

/** Returns round times with room for their texts, none of them in a fold, and the distance between them. */
export function timeTicks({ end, folds, place }: TimeAxis, width: number): { readonly ticks: readonly number[]; readonly step: number } {
  const shown = folds.reduce((sum, { from, to }) => sum - (to - from), end);
  const plain = width - folds.reduce((sum, fold) => sum + fold.width, 0);
  const rough = (shown * apart) / Math.max(1, plain);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const taken = folds.map(({ from, to }) => (place(from) + place(to)) / 2);
  const ticks: number[] = [];
  const segments = [0, ...folds.map(({ to }) => to)].map((from, index) => ({ from, to: folds[index]?.from ?? end }));
  for (const { from, to } of segments) {
    for (let tick = Math.ceil(from / step - 1e-9) * step; tick <= to; tick += step) {
      const x = place(tick);
      if (x > width - 80 || taken.some((at) => Math.abs(at - x) < 72)) continue;
      ticks.push(tick);
    }
  }
  return { ticks, step };
}
