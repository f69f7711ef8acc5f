// Tells when one of the measured binaries is built anew: what is shown is then of the old one.
import path from "node:path";
import * as vscode from "vscode";

/** A linker writes in several steps, ms. */
const settles = 500;

export class BinaryWatch implements vscode.Disposable {
  readonly #built = new vscode.EventEmitter<void>();
  readonly #watchers = new Map<string, vscode.FileSystemWatcher>();
  #timer: NodeJS.Timeout | undefined;

  readonly onDidBuild = this.#built.event;

  watch(binaries: readonly string[]): void {
    for (const binary of binaries) {
      if (!binary.startsWith("/") || this.#watchers.has(binary)) continue;
      const folder = vscode.Uri.file(path.dirname(binary));
      const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, path.basename(binary)));
      const written = (): void => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
          this.#built.fire();
        }, settles);
      };
      watcher.onDidChange(written);
      watcher.onDidCreate(written);
      this.#watchers.set(binary, watcher);
    }
  }

  /** Watches nothing any more. */
  reset(): void {
    for (const watcher of this.#watchers.values()) watcher.dispose();
    this.#watchers.clear();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.reset();
    this.#built.dispose();
  }
}
