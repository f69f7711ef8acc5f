// Tables of figures: sorted by a click on a heading, copied as tab-separated text.
import * as l10n from "@vscode/l10n";
import { useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import { post } from "./host";

export interface Column<R> {
  readonly head: string;
  readonly cell: (row: R) => ComponentChildren;
  /** What rows are sorted by; absent: they are not sorted by this column. */
  readonly value?: (row: R) => number | string;
  /** The text when the table is copied, where `cell` is no text. */
  readonly text?: (row: R) => string;
  /** Left-aligned. */
  readonly left?: boolean;
  /** Omitted in a narrow panel. */
  readonly optional?: boolean;
  readonly className?: string;
}

export interface RowActions {
  readonly onPick?: (not: boolean) => void;
  readonly picked?: boolean;
  readonly title?: string;
  readonly context?: string;
}

interface Props<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  /** Index of the column that the rows are sorted by at first. */
  readonly sorted?: number;
  readonly rowKey: (row: R, index: number) => string;
  readonly actions?: (row: R) => RowActions;
  /** A last row that is not sorted. */
  readonly last?: ComponentChildren;
  readonly className?: string;
}

interface Order {
  readonly column: number;
  readonly up: boolean;
}

function compare(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

const classOf = ({ left = false, optional = false, className = "" }: Column<never>): string => [left ? "l" : "", optional ? "opt" : "", className].filter(Boolean).join(" ");

function cellText<R>(column: Column<R>, row: R): string {
  if (column.text !== undefined) return column.text(row);
  const content = column.cell(row);
  return typeof content === "string" || typeof content === "number" ? String(content) : String(column.value?.(row) ?? "");
}

export function DataTable<R>({ label, columns, rows, sorted = -1, rowKey, actions, last, className = "" }: Props<R>): JSX.Element {
  const [order, setOrder] = useState<Order>({ column: sorted, up: false });
  const by = columns[order.column]?.value;
  const ordered = by === undefined ? rows : [...rows].sort((a, b) => compare(by(a), by(b)) * (order.up ? 1 : -1));
  const sortBy = (column: number): void => {
    setOrder({ column, up: order.column === column ? !order.up : columns[column]?.left === true });
  };
  const copy = (): void => {
    const lines = [columns.map(({ head }) => head), ...ordered.map((row) => columns.map((column) => cellText(column, row)))];
    post({ type: "copy", text: `${lines.map((cells) => cells.join("\t")).join("\n")}\n` });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "c" || !(event.ctrlKey || event.metaKey) || window.getSelection()?.isCollapsed === false) return;
    copy();
    event.preventDefault();
  };
  return (
    // The keyboard reaches it, to scroll and to copy it.
    <div class="scroll" tabIndex={0} role="region" aria-label={label} onKeyDown={onKeyDown} title={l10n.t("Ctrl+C copies the table")}>
      <table class={className}>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col" class={classOf(column)} aria-sort={order.column === index ? (order.up ? "ascending" : "descending") : undefined}>
                {column.value === undefined ? column.head : (
                  <button type="button" onClick={() => { sortBy(index); }}>
                    {column.head}
                    {order.column === index ? (order.up ? " ↑" : " ↓") : ""}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ordered.map((row, index) => (
            <Row key={rowKey(row, index)} row={row} columns={columns} actions={actions?.(row)} />
          ))}
          {last}
        </tbody>
      </table>
    </div>
  );
}

function Row<R>({ row, columns, actions = {} }: { readonly row: R; readonly columns: readonly Column<R>[]; readonly actions?: RowActions | undefined }): JSX.Element {
  const { onPick, picked = false, title, context } = actions;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const { currentTarget } = event;
    if (event.key === "Enter" || event.key === " ") onPick?.(event.altKey);
    else if (event.key === "ArrowDown") focusOn((currentTarget as Element).nextElementSibling);
    else if (event.key === "ArrowUp") focusOn((currentTarget as Element).previousElementSibling);
    else return;
    event.preventDefault();
  };
  return (
    <tr
      class={`${onPick === undefined ? "" : "pickable"}${picked ? " picked" : ""}`}
      tabIndex={onPick === undefined ? undefined : 0}
      aria-current={picked ? "true" : undefined}
      title={title}
      data-vscode-context={context}
      onClick={onPick === undefined ? undefined : (event: MouseEvent) => { onPick(event.altKey); }}
      onKeyDown={onPick === undefined ? undefined : onKeyDown}
    >
      {columns.map((column, index) => (
        <td key={index} class={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function focusOn(row: Element | null): void {
  if (row instanceof HTMLElement) row.focus();
}

/** How a time divides into the three states, as shares of 1. */
export interface States {
  readonly on: number;
  readonly blocked: number;
  readonly preempted: number;
}

/** A bar of a share of 1, divided by the states. */
export function ShareBar({ part, states }: { readonly part: number; readonly states: States }): JSX.Element {
  const widths = [["on", states.on], ["blk", states.blocked], ["pre", states.preempted]] as const;
  return (
    <span class="t" aria-hidden="true">
      {widths.map(([name, state]) => (state > 0 && part > 0 ? <i key={name} class={name} style={{ width: `${String(100 * Math.min(1, part) * state)}%` }} /> : null))}
    </span>
  );
}
