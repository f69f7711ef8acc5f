// The one recording whose results are shown. Opening another closes it.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import type { Recording } from "./protocol";

export class Session implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  #recording: Recording | undefined;

  /** Another recording is shown, or none. */
  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly client: Client,
    private readonly log: Log,
  ) {
    client.onDidStop(() => {
      this.#set(undefined);
    });
  }

  get recording(): Recording | undefined {
    return this.#recording;
  }

  async show(recording: Recording): Promise<void> {
    const before = this.#recording;
    this.#set(recording);
    if (before !== undefined && before.id !== recording.id) await this.#close(before.id);
    await this.client.refreshLenses();
  }

  async clear(): Promise<void> {
    const before = this.#recording;
    this.#set(undefined);
    if (before !== undefined) await this.#close(before.id);
    await this.client.refreshLenses();
  }

  async #close(id: string): Promise<void> {
    try {
      await this.client.request("ptlens/close", { id });
    } catch (error) {
      this.log.report("close the recording", error);
    }
  }

  #set(recording: Recording | undefined): void {
    this.#recording = recording;
    void vscode.commands.executeCommand("setContext", "ptlens.hasResults", recording !== undefined);
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
