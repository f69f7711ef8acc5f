// The bridge: one strip to scale, and below it each cause on an axis that may leave out the middle of the largest.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { briefFigure, difference, share, tickText, time } from "../base/format";
import { axisOf, axisTicks, labelOf, type Axis, type Explanation, type State, type Step } from "./bridge";

const percent = (part: number): string => `${String(100 * part)}%`;

function Grid({ axis, ticks }: { readonly axis: Axis; readonly ticks: readonly number[] }): JSX.Element {
  return <>{ticks.map((value) => <i key={value} class="gl" style={{ left: percent(axis.place(value)) }} />)}</>;
}

interface Bar {
  readonly from: number;
  readonly to: number;
  readonly state: State;
}

function Track({ axis, ticks, bars, tail }: { readonly axis: Axis; readonly ticks: readonly number[]; readonly bars: readonly Bar[]; readonly tail?: number }): JSX.Element {
  const { cut } = axis;
  const isCut = cut !== undefined && bars.some(({ from, to }) => Math.min(from, to) < cut[0] && Math.max(from, to) > cut[1]);
  return (
    <span class="track">
      <Grid axis={axis} ticks={ticks} />
      {bars.map(({ from, to, state }, index) => {
        const [low, high] = [axis.place(Math.min(from, to)), axis.place(Math.max(from, to))];
        return <i key={index} class={state} style={{ left: percent(low), width: percent(high - low) }} />;
      })}
      {isCut ? <i class="cut" style={{ left: percent(axis.place((cut[0] + cut[1]) / 2)) }} /> : null}
      {tail === undefined ? null : <i class="tail" style={{ left: percent(axis.place(tail)) }} />}
    </span>
  );
}

export function Bridge({ explained, steps }: { readonly explained: Explanation; readonly steps: readonly Step[] }): JSX.Element {
  const { typical, slow, gap, components, resolution_ns } = explained;
  const axis = axisOf(typical.mean, steps);
  const ticks = axisTicks(axis);
  const apart = Math.min(...ticks.slice(1).map((value, index) => value - (ticks[index] ?? 0)));
  const bars: Bar[] = [{ from: 0, to: typical.mean, state: "on" }, ...steps];
  const rising = bars.filter(({ from, to }) => to > from);
  const total = rising.reduce((sum, { from, to }) => sum + to - from, 0);
  const unnamed = slow.mean - (steps.at(-1)?.to ?? typical.mean);
  const label = (index: number | undefined): string => {
    const component = components[index ?? -1];
    return component === undefined ? l10n.t("everything else") : labelOf(component);
  };
  return (
    <>
      <div class="bridge" role="img" aria-label={l10n.t("From a typical to a slow call. The link Table shows the same figures.")}>
        <span class="k dim">{l10n.t("to scale")}</span>
        <span class="track">
          <span class="strip">{rising.map(({ from, to, state }, index) => <i key={index} class={state} style={{ width: percent((to - from) / Math.max(1, total)) }} />)}</span>
        </span>
        <span class="r dim">{time(slow.mean)}</span>
        <span />
        <span class="rule" />
        <span class="k total">{l10n.t("typical call")}</span>
        <Track axis={axis} ticks={ticks} bars={bars.slice(0, 1)} tail={typical.mean} />
        <span class="r total">{briefFigure(typical.mean, resolution_ns)}</span>
        <span />
        {steps.map((step) => (
          <div class="step" key={step.component ?? "rest"}>
            <span class="k" title={label(step.component)}>{label(step.component)}</span>
            <Track axis={axis} ticks={ticks} bars={[step]} tail={step.to} />
            <span class="r">{difference(step.to - step.from)}</span>
            <span class="r dim">{share((step.to - step.from) / (gap === 0 ? 1 : gap))}</span>
          </div>
        ))}
        <span class="k total">{l10n.t("slow call")}</span>
        <Track axis={axis} ticks={ticks} bars={rising} />
        <span class="r total">{time(slow.mean)}</span>
        <span />
        <span class="k nolabel" />
        <span class="track">
          {ticks.map((value) => <span key={value} class="tick" style={{ left: percent(axis.place(value)) }}>{tickText(value, apart)}</span>)}
          {axis.cut === undefined ? null : <span class="tick" style={{ left: percent(axis.place((axis.cut[0] + axis.cut[1]) / 2)) }}>//</span>}
        </span>
      </div>
      <p class="dim small">
        {axis.cut === undefined ? l10n.t("Means per call.") : l10n.t("Means per call. The axis leaves out {0} at //.", time(axis.cut[1] - axis.cut[0]))}
        {unnamed === 0 ? "" : ` ${l10n.t("What is not named here comes to {0}.", difference(unnamed))}`}
      </p>
    </>
  );
}
