// Opens the active recording again when something on the screen would show it: after a reload of the window
// and after the helper's end. Nothing is started for a window without a source to annotate.
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import { isMeasurable } from "../source/languages";
import type { Session } from "./session";

/** A helper that ends so often, within so many ms, is not started again unasked. */
const mostEnds = 3;
const span = 5 * 60_000;

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
        this.#ends = [...this.#ends.filter((end) => now - end < span), now];
        this.restoreIfNeeded();
      }),
    ];
  }

  restoreIfNeeded(): void {
    if (this.#ends.length > mostEnds) return;
    const shown = vscode.window.visibleTextEditors.some(
      ({ document }) => document.uri.scheme === "file" && isMeasurable(document.languageId),
    );
    if (shown) void this.session.restore();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
