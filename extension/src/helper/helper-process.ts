// The helper as a child process: what it says on stderr goes to the log, and how it ended is remembered.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import * as vscode from "vscode";

const keptLines = 5;
/** ms that the end may take to become known after its pipes closed. */
const patience = 2000;

export class HelperProcess {
  readonly child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #exit: Promise<unknown>;

  constructor(path: string, args: readonly string[], onLine: (line: string) => void) {
    this.child = spawn(path, args, { stdio: "pipe" });
    this.#exit = once(this.child, "exit").catch(() => undefined);
    if (this.child.stderr === null) return;
    createInterface({ input: this.child.stderr }).on("line", (line) => {
      this.#lines.push(line);
      if (this.#lines.length > keptLines) this.#lines.shift();
      onLine(line);
    });
  }

  /** "SIGSEGV", "status 3", "status 3: the last line that it said". */
  async reason(): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      this.#exit,
      new Promise((resolve) => {
        timer = setTimeout(resolve, patience);
      }),
    ]);
    clearTimeout(timer);
    const { exitCode, signalCode } = this.child;
    const how = signalCode ?? (exitCode === null ? vscode.l10n.t("its pipes closed") : vscode.l10n.t("status {0}", String(exitCode)));
    const said = this.#lines.map((line) => line.trim()).filter((line) => line !== "");
    return said.length === 0 ? how : `${how}: ${said.slice(-2).join(" / ")}`;
  }
}
