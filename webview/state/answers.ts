// What the helper answers to the present selection. The last answer stays until the next one is here.
import { effect, signal, type ReadonlySignal } from "@preact/signals";
import type { PanelMethod, PanelParams, PanelResult } from "../../extension/src/panel/panel-messages";
import { ask } from "../base/host";

export interface Answered<T> {
  /** The latest answer, which may be of the selection before. */
  readonly value: T | undefined;
  readonly loading: boolean;
  readonly failure: string | undefined;
}

const nothing = { value: undefined, loading: false, failure: undefined };

/**
 * Asks again whenever the parameters change; undefined: nothing is asked. An answer that is not of the latest question is
 * dropped, and so is the last one when `subject` changes.
 */
export function answersTo<M extends PanelMethod>(
  method: M,
  params: ReadonlySignal<PanelParams<M> | undefined>,
  subject: ReadonlySignal<string>,
): ReadonlySignal<Answered<PanelResult<M>>> {
  const state = signal<Answered<PanelResult<M>>>(nothing);
  let latest = "";
  let about = "";
  effect(() => {
    const question = params.value;
    if (subject.value !== about) {
      about = subject.value;
      latest = "";
      state.value = nothing;
    }
    if (question === undefined) return;
    const key = JSON.stringify(question);
    if (key === latest) return;
    latest = key;
    state.value = { value: state.peek().value, loading: true, failure: undefined };
    const isLatest = (): boolean => latest === key;
    ask(method, question).then(
      (value) => {
        if (isLatest()) state.value = { value, loading: false, failure: undefined };
      },
      (error: unknown) => {
        if (!isLatest()) return;
        latest = "";
        state.value = { value: state.peek().value, loading: false, failure: error instanceof Error ? error.message : String(error) };
      },
    );
  });
  return state;
}
