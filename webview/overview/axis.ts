// Logarithmic axes: uPlot draws log10 of the figure on a linear axis, with ticks at 1, 2 and 5.

/** Returns 1, 2, 5, 10, 20 … within the limits. `steps`: [1, 2] or [1] for fewer. */
export function ticks125(low: number, high: number, steps: readonly number[] = [1, 2, 5]): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

/** Returns as many of the ticks as have room with their texts. */
export function ticksFor(low: number, high: number, width: number): number[] {
  const decade = width / Math.max(0.1, Math.log10(high / low));
  if (decade >= 160) return ticks125(low, high);
  return decade >= 130 ? ticks125(low, high, [1, 2]) : ticks125(low, high, [1]);
}

/** Returns the powers of ten within the limits. */
export function powersOfTen(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * (1 + 1e-9); power += 1) ticks.push(10 ** power);
  return ticks;
}

/** Returns the limits of an axis around the latencies: at a tick of 1, 2 or 5. */
export function limitsAround(low: number, high: number): [number, number] {
  const least = Math.max(1, low);
  const below = ticks125(least / 10, least).at(-1) ?? least;
  const above = ticks125(Math.max(least, high), Math.max(least, high) * 10).find((tick) => tick >= high) ?? high;
  return below < above ? [below, above] : [below / 2, above * 2];
}

/** Returns the limits of an axis of latency. It begins with the bin of the calls that are not resolved, if there is one. */
export function axisLimits({ below, least, most }: { readonly below: unknown; readonly least: number; readonly most: number }): [number, number] {
  const limits = limitsAround(least, most);
  return below === undefined ? limits : [least, limits[1]];
}

/** Returns about five round values from 0 to `most`. */
export function roundSteps(most: number, wanted = 4): number[] {
  if (most <= 0) return [];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const values: number[] = [];
  for (let value = step; value <= most * (1 + 1e-9); value += step) values.push(value);
  return values;
}

/** Returns the edge of the bins that is `steps` after this latency. */
export function edgeAfter(edges: readonly number[], ns: number, steps: number): number {
  const above = edges.findIndex((edge) => edge > ns * (1 + 1e-9));
  const atEdge = edges.some((edge) => Math.abs(edge - ns) <= ns * 1e-9);
  const from = above < 0 ? edges.length - 1 : above - 1;
  const to = steps < 0 && !atEdge ? from + steps + 1 : from + steps;
  return edges[Math.max(0, Math.min(edges.length - 1, to))] ?? ns;
}
