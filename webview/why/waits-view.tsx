// What the slow calls waited for, where, and what ended the waiting.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import type { WaitsResult } from "../../extension/src/panel/panel-messages";
import { Link, Section, Sentence } from "../base/controls";
import { DataTable, ShareBar } from "../base/data-table";
import { count, share, time } from "../base/format";
import { reveal } from "../base/host";
import { shortName } from "../base/names";
import { waits } from "./waits-state";

type Wait = WaitsResult["waits"]["rows"][number];

/** Reasons that a reader asks about. */
const usual = (): readonly (readonly [string, string])[] => [
  ["lock", l10n.t("a lock")],
  ["disk", l10n.t("the disk")],
  ["network", l10n.t("the network")],
  ["page_fault", l10n.t("page faults")],
  ["process", l10n.t("a child process")],
];

function Ended({ wait: { wakers } }: { readonly wait: Wait }): JSX.Element {
  const [first, ...others] = wakers;
  if (first === undefined) return <span class="dim">–</span>;
  const rest = others.map(({ text, total }) => `${text.replaceAll("`", "")} (${time(total)})`).join("\n");
  return <span title={rest}><Sentence text={first.text} />{others.length > 0 ? <span class="dim"> {l10n.t("and {0} more", others.length)}</span> : null}</span>;
}

/** The function that waited, which leads to the line. */
function Place({ wait: { function: name, file, line, called } }: { readonly wait: Wait }): JSX.Element {
  const title = [called === "" ? name : `${name}: ${called}`, ...(file === "" ? [] : [`${file}:${String(line)}`])].join("\n");
  if (file === "") return <span title={title}>{shortName(name)}</span>;
  return <Link code title={title} onClick={() => { reveal(file, line); }}>{shortName(name)}</Link>;
}

/** `slowTime`: sum of the latencies of the slow calls, ns. */
export function WaitsSection({ slowTime }: { readonly slowTime: number }): JSX.Element | null {
  const { value } = waits;
  if (value === undefined || value.total === 0) return null;
  const all = Math.max(1, slowTime);
  const absent = usual().filter(([reason]) => !value.reasons.some((each) => each.reason === reason)).map(([, text]) => text);
  const where = (wait: Wait): string => shortName(wait.function);
  return (
    <Section name="waits" title={l10n.t("What they waited for")} right={<span class="small dim">{l10n.t("{0} of {1}, {2}", time(value.total), time(slowTime), share(value.total / all))}</span>}>
      <DataTable
        className="waits"
        label={l10n.t("What they waited for")}
        rows={value.rows}
        sorted={1}
        rowKey={({ reason, function: name, file, line, called }, index) => `${reason} ${name} ${file} ${String(line)} ${called} ${String(index)}`}
        columns={[
          { head: l10n.t("reason"), left: true, cell: ({ reason, likely }) => (likely ? l10n.t("likely {0}", reason.replace("_", " ")) : reason.replace("_", " ")), value: ({ reason }) => reason },
          { head: l10n.t("total"), cell: ({ total }) => time(total), value: ({ total }) => total },
          { head: l10n.t("calls"), cell: ({ calls }) => count(calls), value: ({ calls }) => calls },
          { head: l10n.t("longest"), optional: true, cell: ({ max }) => time(max), value: ({ max }) => max },
          {
            head: l10n.t("in"),
            left: true,
            className: "name",
            cell: (wait) => <Place wait={wait} />,
            text: where,
            value: where,
          },
          { head: l10n.t("ended by"), left: true, className: "ended", cell: (wait) => <Ended wait={wait} />, text: ({ wakers }) => wakers[0]?.text ?? "" },
          {
            head: l10n.t("share"),
            optional: true,
            cell: ({ total, reason }) => <span class="share"><ShareBar part={total / all} states={{ on: 0, blocked: reason === "preempted" ? 0 : 1, preempted: reason === "preempted" ? 1 : 0 }} /><span class="v">{share(total / all)}</span></span>,
            text: ({ total }) => share(total / all),
            value: ({ total }) => total,
          },
        ]}
      />
      <p class="dim small">
        {value.recorded
          ? absent.length > 0 ? l10n.t("None waited for {0}.", new Intl.ListFormat("en", { type: "disjunction" }).format(absent)) : ""
          : l10n.t("The recording contains when threads waited, but not why. Record as root, or with the rights that the doctor names, to see the reasons.")}
      </p>
    </Section>
  );
}
