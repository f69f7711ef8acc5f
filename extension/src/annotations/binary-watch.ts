// Detects when a measured binary was rebuilt: the figures are then those of the old one. A linker writes in several
// steps, and the events of its writes to mapped memory come late or not at all. So after a first event the files are
// polled until they stay the same.
import { stat } from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";

/** ms */
const pollInterval = 250;
/** Polls without a change after which a file counts as complete. */
const pollsUntilSettled = 2;
/** Polls without a change after which polling ends. */
const pollsUntilEnd = 20;

export class BinaryWatch implements vscode.Disposable {
  readonly #rebuilt = new vscode.EventEmitter<void>();
  readonly #watchers = new Map<string, vscode.FileSystemWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #unchangedPolls = 0;
  #fingerprints = "";
  /** The fingerprints of the last event. */
  #reported = "";

  readonly onDidRebuild = this.#rebuilt.event;

  watch(binaries: readonly string[]): void {
    for (const binary of binaries) {
      if (!binary.startsWith("/") || this.#watchers.has(binary)) continue;
      const folder = vscode.Uri.file(path.dirname(binary));
      const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, path.basename(binary)));
      const onWrite = (): void => {
        this.#reported = "";
        this.#unchangedPolls = 0;
        if (this.#timer === undefined) this.#schedulePoll();
      };
      watcher.onDidChange(onWrite);
      watcher.onDidCreate(onWrite);
      this.#watchers.set(binary, watcher);
    }
  }

  #schedulePoll(): void {
    this.#timer = setTimeout(() => {
      void this.#poll();
    }, pollInterval);
  }

  async #poll(): Promise<void> {
    const timer = this.#timer;
    const fingerprints = (await Promise.all([...this.#watchers.keys()].map(fingerprint))).join("\n");
    if (this.#timer !== timer) return; // reset meanwhile
    this.#unchangedPolls = fingerprints === this.#fingerprints ? this.#unchangedPolls + 1 : 0;
    this.#fingerprints = fingerprints;
    if (this.#unchangedPolls >= pollsUntilSettled && fingerprints !== this.#reported) {
      this.#reported = fingerprints;
      this.#rebuilt.fire();
    }
    if (this.#unchangedPolls < pollsUntilEnd) this.#schedulePoll();
    else this.#timer = undefined;
  }

  /** Stops watching all binaries. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const watcher of this.#watchers.values()) watcher.dispose();
    this.#watchers.clear();
  }

  dispose(): void {
    this.reset();
    this.#rebuilt.dispose();
  }
}

async function fingerprint(file: string): Promise<string> {
  return stat(file, { bigint: true }).then(({ ino, size, mtimeNs }) => [ino, size, mtimeNs].join(" "), () => "");
}
