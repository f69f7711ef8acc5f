// The selected calls, page by page as they come into sight.
import { computed, effect, signal } from "@preact/signals";
import type { CallsResult, PanelParams } from "../../extension/src/panel/panel-messages";
import { ask } from "../base/host";
import { selection, shownFunction, subject, tab } from "../state/store";
import type { CallPart } from "./longest-parts";

export type CallOrder = "start" | "latency" | "off_cpu" | "self";

export interface Call {
  /** Its place among all calls of the function. */
  readonly number: number;
  readonly tid: number;
  readonly start: number;
  readonly latency: number | null;
  readonly resolution: number;
  readonly blocked: number;
  readonly preempted: number;
  readonly self: number | null;
  readonly caller: string;
  readonly state: CallsResult["columns"]["state"][number];
  /** The longest first. */
  readonly parts: readonly CallPart[];
}

export const order = signal<{ readonly by: CallOrder; readonly descending: boolean }>({ by: "latency", descending: true });

/** Calls in one request. */
const pageSize = 200;

interface Pages {
  readonly total: number | undefined;
  readonly command: readonly string[] | undefined;
  readonly pages: ReadonlyMap<number, readonly Call[]>;
  readonly failure: string | undefined;
}

const none: Pages = { total: undefined, command: undefined, pages: new Map(), failure: undefined };
export const pages = signal<Pages>(none);

const question = computed((): PanelParams<"ptlens/calls"> | undefined => {
  const { value } = shownFunction;
  if (value === undefined || tab.value !== "calls") return undefined;
  const states = selection.value.states?.length ? {} : { states: ["complete"] as ["complete"] };
  return { function: value.selector, selection: { ...selection.value, ...states }, order: order.value.by, descending: order.value.descending, details: true };
});

const asked = new Set<number>();
let key = "";

effect(() => {
  const next = question.value === undefined ? "" : `${subject.value} ${JSON.stringify(question.value)}`;
  if (next === "" || next === key) return;
  key = next;
  asked.clear();
  pages.value = { ...none, total: pages.peek().total };
  need(0);
});

export function callsOf({ columns, functions }: CallsResult): Call[] {
  const nameOf = (index: number): string => functions[index]?.name ?? "";
  return columns.tid.map((tid, index) => ({
    number: columns.number?.[index] ?? 0,
    tid,
    start: columns.start[index] ?? 0,
    latency: columns.latency[index] ?? null,
    resolution: columns.resolution[index] ?? 0,
    blocked: columns.blocked[index] ?? 0,
    preempted: columns.preempted[index] ?? 0,
    self: columns.self[index] ?? null,
    caller: nameOf(columns.caller[index] ?? -1),
    state: columns.state[index] ?? "incomplete",
    parts: (columns.parts?.[index] ?? []).map((part) => ({ ...part, name: nameOf(part.function) })),
  }));
}

/** Fetches the page with this call if it is not there. */
export function need(index: number): void {
  const page = Math.floor(index / pageSize);
  const { value: params } = question;
  if (params === undefined || asked.has(page)) return;
  asked.add(page);
  const wanted = key;
  ask("ptlens/calls", { ...params, offset: page * pageSize, limit: pageSize }).then(
    (result) => {
      if (wanted !== key) return;
      pages.value = {
        total: result.total,
        command: result.command,
        pages: new Map(pages.value.pages).set(page, callsOf(result)),
        failure: undefined,
      };
    },
    (error: unknown) => {
      if (wanted !== key) return;
      asked.delete(page);
      pages.value = { ...pages.value, failure: error instanceof Error ? error.message : String(error) };
    },
  );
}

export function callAt(index: number): Call | undefined {
  return pages.value.pages.get(Math.floor(index / pageSize))?.[index % pageSize];
}
