// Opens the active recording again when a visible editor could show it: after a reload of the window, and after the
// helper ended. A window without measurable sources starts no helper.
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import { isMeasurable } from "../source/languages";
import type { Session } from "./session";

/** If the helper ends more often than this within `period` (ms), only the user starts it again. */
const mostEnds = 3;
const period = 5 * 60_000;

export class Restorer implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  #ends: number[] = [];

  constructor(
    client: Client,
    private readonly session: Session,
  ) {
    this.#subscriptions = [
      vscode.window.onDidChangeVisibleTextEditors(() => {
        this.restoreIfNeeded();
      }),
      client.onDidStop(() => {
        const now = Date.now();
        this.#ends = [...this.#ends.filter((end) => now - end < period), now];
        this.restoreIfNeeded();
      }),
    ];
  }

  restoreIfNeeded(): void {
    if (this.#ends.length > mostEnds) return;
    if (vscode.window.visibleTextEditors.some(({ document }) => isMeasurable(document))) void this.session.restore();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
