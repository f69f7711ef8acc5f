// Tells when one of the measured binaries is built anew: what is shown is then of the old one. A linker writes in
// several steps, and what it writes to mapped memory is told late or not at all, so once a file has changed it is
// looked at until it stays as it is.
import { stat } from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";

/** ms between two looks. */
const pause = 250;
/** Looks without a change after which a file counts as written, and after which nobody looks any more. */
const settled = 2;
const forgotten = 20;

export class BinaryWatch implements vscode.Disposable {
  readonly #built = new vscode.EventEmitter<void>();
  readonly #watchers = new Map<string, vscode.FileSystemWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #quiet = 0;
  #seen = "";
  #told = "";

  readonly onDidBuild = this.#built.event;

  watch(binaries: readonly string[]): void {
    for (const binary of binaries) {
      if (!binary.startsWith("/") || this.#watchers.has(binary)) continue;
      const folder = vscode.Uri.file(path.dirname(binary));
      const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, path.basename(binary)));
      const written = (): void => {
        this.#told = "";
        this.#quiet = 0;
        if (this.#timer === undefined) this.#lookLater();
      };
      watcher.onDidChange(written);
      watcher.onDidCreate(written);
      this.#watchers.set(binary, watcher);
    }
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => {
      void this.#look();
    }, pause);
  }

  async #look(): Promise<void> {
    const timer = this.#timer;
    const seen = (await Promise.all([...this.#watchers.keys()].map(fingerprint))).join("\n");
    if (this.#timer !== timer) return; // nothing of this is watched any more
    this.#quiet = seen === this.#seen ? this.#quiet + 1 : 0;
    this.#seen = seen;
    if (this.#quiet >= settled && seen !== this.#told) {
      this.#told = seen;
      this.#built.fire();
    }
    if (this.#quiet < forgotten) this.#lookLater();
    else this.#timer = undefined;
  }

  /** Watches nothing any more. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const watcher of this.#watchers.values()) watcher.dispose();
    this.#watchers.clear();
  }

  dispose(): void {
    this.reset();
    this.#built.dispose();
  }
}

async function fingerprint(file: string): Promise<string> {
  return stat(file, { bigint: true }).then(({ ino, size, mtimeNs }) => [ino, size, mtimeNs].join(" "), () => "");
}
