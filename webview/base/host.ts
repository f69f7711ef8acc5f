// Messages to the extension, and the data that it wrote into the page.
import type { Answer, FromPanel, PanelMethod, PanelParams, PanelResult } from "../../extension/src/panel/panel-messages";

interface VsCodeApi {
  postMessage(message: FromPanel): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

export function post(message: FromPanel): void {
  api.postMessage(message);
}

/** Opens a source line in the editor. Does nothing without debug information. */
export function reveal(file: string, line: number): void {
  if (file !== "") post({ type: "reveal", file, line });
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: Error) => void;
}

const pending = new Map<number, Pending>();
let asked = 0;

function numbered<T>(message: (number: number) => FromPanel): Promise<T> {
  asked += 1;
  const number = asked;
  return new Promise((resolve, reject) => {
    pending.set(number, { resolve: resolve as (result: unknown) => void, reject });
    post(message(number));
  });
}

/** Asks the helper about the shown recording. */
export function ask<M extends PanelMethod>(method: M, params: PanelParams<M>): Promise<PanelResult<M>> {
  return numbered((number) => ({ type: "ask", ask: number, method, params }));
}

/** Asks the same about the recording that the shown one is compared with. */
export function askBaseline<M extends PanelMethod>(method: M, params: PanelParams<M>): Promise<PanelResult<M>> {
  return numbered((number) => ({ type: "ask", ask: number, method, params, ofBaseline: true }));
}

/** Passes an answer to the request that it belongs to. */
export function answered({ ask: number, result, failure }: Answer): void {
  const request = pending.get(number);
  pending.delete(number);
  if (failure === undefined) request?.resolve(result);
  else request?.reject(new Error(failure));
}

/** Returns what `keep` stored before the page was loaded again. */
export function kept(): unknown {
  return api.getState();
}

/** Stores what the page needs when it is loaded again. */
export function keep(state: unknown): void {
  api.setState(state);
}

/** Returns the translations that the extension wrote into the page; empty for English. */
export function translations(): Record<string, string> {
  return JSON.parse(document.getElementById("translations")?.textContent ?? "{}") as Record<string, string>;
}
