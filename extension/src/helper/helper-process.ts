// The helper as a child process: its stderr goes to the log, and exitReason() explains why it ended.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import * as vscode from "vscode";

const rememberedLines = 5;
/** Time between the end of the pipes and the exit status, ms. */
const exitTimeout = 2000;

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
      if (this.#lines.length > rememberedLines) this.#lines.shift();
      onLine(line);
    });
  }

  /** Returns "SIGSEGV", "status 3", or "status 3: " and the last lines that it printed. */
  async exitReason(): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      this.#exit,
      new Promise((resolve) => {
        timer = setTimeout(resolve, exitTimeout);
      }),
    ]);
    clearTimeout(timer);
    const { exitCode, signalCode } = this.child;
    const status = signalCode ?? (exitCode === null ? vscode.l10n.t("its pipes closed") : vscode.l10n.t("status {0}", String(exitCode)));
    const printed = this.#lines.map((line) => line.trim()).filter((line) => line !== "");
    return printed.length === 0 ? status : `${status}: ${printed.slice(-2).join(" / ")}`;
  }
}
