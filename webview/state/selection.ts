// The selection: which calls of the function are meant. Its parts are shown as chips; each kind exists once, and all must hold.
import * as l10n from "@vscode/l10n";
import type { Selection } from "../../extension/src/panel/panel-messages";
import { range, time } from "../base/format";
import { shortName } from "../base/names";

export type ChipKind = keyof Selection;

export interface Chip {
  readonly kind: ChipKind;
  readonly text: string;
}

type Caller = NonNullable<Selection["callers"]>[number];

const isSet = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false);

/** Whether every call is meant. */
export function isEverything(selection: Selection): boolean {
  return !Object.values(selection).some(isSet);
}

/** Returns the selection with this part, or without it if it is undefined. */
export function withPart<K extends ChipKind>(selection: Selection, kind: K, value: Selection[K] | undefined): Selection {
  const kept = Object.entries(selection).filter(([name]) => name !== kind);
  return Object.fromEntries(isSet(value) ? [...kept, [kind, value]] : kept);
}

/** Adds an element to a list, or removes it if the list has it. */
function toggled<T>(list: readonly T[] | undefined, value: T): T[] {
  const key = JSON.stringify(value);
  const others = (list ?? []).filter((each) => JSON.stringify(each) !== key);
  return others.length === (list ?? []).length ? [...others, value] : others;
}

/** Selects the calls on a thread; `not`: those on other threads. A second time removes the condition. */
export function toggleThread(selection: Selection, tid: number, not = false): Selection {
  const kind = not ? "not_tids" : "tids";
  return withPart(withPart(selection, not ? "tids" : "not_tids", undefined), kind, toggled(selection[kind], tid));
}

/** Selects the calls from a place; `not`: the others. A second time removes the condition. */
export function toggleCaller(selection: Selection, caller: Omit<Caller, "not">, not = false): Selection {
  const place: Caller = not ? { ...caller, not } : caller;
  const same = (selection.callers ?? []).filter((each) => (each.not ?? false) === not);
  return withPart(selection, "callers", toggled(same, place));
}

export function hasThread(selection: Selection, tid: number): boolean {
  return selection.tids?.includes(tid) ?? false;
}

export function hasCaller(selection: Selection, caller: Omit<Caller, "not">): boolean {
  return (selection.callers ?? []).some((each) => each.not !== true && each.function === caller.function && each.line === caller.line && each.file === caller.file);
}

/** A function of a condition may be NAME@0xADDRESS. */
const nameOf = (condition: string): string => shortName(condition.replace(/@0x[0-9a-f]+$/, ""));

const listed = (names: readonly string[]): string => (names.length > 3 ? l10n.t("{0} and {1} more", names.slice(0, 2).join(", "), names.length - 2) : names.join(", "));

function callsText({ function: name, least = 1, most }: NonNullable<Selection["calls"]>[number]): string {
  const called = nameOf(name);
  if (most === 0) return l10n.t("without {0}", called);
  if (most === undefined) return least === 1 ? l10n.t("calls {0}", called) : l10n.t("calls {0} {1} times or more", called, least);
  return least === most ? l10n.t("calls {0} {1} times", called, least) : l10n.t("calls {0} {1} to {2} times", called, least, most);
}

/** Returns the chips of a selection. `threadName` names a thread. */
export function chipsOf(selection: Selection, threadName: (tid: number) => string): Chip[] {
  const { latency, time: span, tids = [], not_tids: notTids = [], callers = [], ancestors = [], calls = [], waited = [], states = [], complement } = selection;
  const chips: Chip[] = [];
  const add = (kind: ChipKind, text: string): void => {
    chips.push({ kind, text });
  };
  if (latency !== undefined) add("latency", l10n.t("latency {0}", range(...latency)));
  if (span !== undefined) add("time", l10n.t("at {0}", range(...span)));
  if (tids.length > 0) add("tids", l10n.t("thread {0}", listed(tids.map(threadName))));
  if (notTids.length > 0) add("not_tids", l10n.t("not on {0}", listed(notTids.map(threadName))));
  if (callers.length > 0) {
    const names = listed(callers.map((each) => nameOf(each.function) + (each.line !== undefined && each.line > 0 ? `:${String(each.line)}` : "")));
    add("callers", callers.some((each) => each.not === true) ? l10n.t("not from {0}", names) : l10n.t("called from {0}", names));
  }
  if (ancestors.length > 0) add("ancestors", l10n.t("below {0}", listed(ancestors.map((each) => nameOf(each.function)))));
  if (calls.length > 0) add("calls", listed(calls.map(callsText)));
  if (waited.length > 0) add("waited", listed(waited.map(({ reason, least = 1 }) => (least > 1 ? l10n.t("{0} for {1} or more", reason, time(least)) : reason))));
  if (states.length > 0) add("states", listed(states));
  if (complement === true) add("complement", l10n.t("all other calls"));
  return chips;
}

/** The selection and those before it, the latest last. */
export interface History {
  readonly present: Selection;
  readonly past: readonly Selection[];
}

const steps = 20;

/** Makes a selection the present one. The same selection again is no step. */
export function changed(history: History, present: Selection): History {
  if (JSON.stringify(present) === JSON.stringify(history.present)) return history;
  return { present, past: [...history.past, history.present].slice(-steps) };
}

/** Returns to the selection before. */
export function undone({ present, past }: History): History {
  return { present: past.at(-1) ?? present, past: past.slice(0, -1) };
}
