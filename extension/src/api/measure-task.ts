// Tasks of the type "ptlens": a measurement that a build, a keybinding or another task can start. It runs in its own
// terminal, prints the figures at the end, and shows the result in the editor.
import * as vscode from "vscode";
import { expand, folderOf } from "../base/settings";
import { explainedMean, latencyFigure } from "../base/latency-text";
import { formatCalls } from "../base/units";
import { failureOf, failureText } from "../errors/failure";
import type { Backend } from "../protocol/protocol";
import type { Api } from "./api";

export const taskType = "ptlens";

interface Definition extends vscode.TaskDefinition {
  readonly function?: string;
  readonly binary?: string;
  readonly program?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly pid?: number;
  readonly duration?: number;
  readonly backend?: Backend;
}

export class TaskProvider implements vscode.TaskProvider {
  constructor(private readonly api: Api) {}

  /** Returns none: all tasks of this type are declared in tasks.json, and `resolveTask` completes them. */
  provideTasks(): vscode.Task[] {
    return [];
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const definition = task.definition as Definition;
    if (definition.program === undefined && definition.pid === undefined) return undefined;
    return this.#task(definition, task.scope ?? vscode.TaskScope.Workspace, task.name);
  }

  #task(definition: Definition, scope: vscode.WorkspaceFolder | vscode.TaskScope, name: string): vscode.Task {
    const folder = typeof scope === "object" ? scope : folderOf();
    const run = new vscode.CustomExecution((resolved) => Promise.resolve(new MeasureTerminal(this.api, resolved as Definition, folder)));
    const task = new vscode.Task(definition, scope, name, "PT Lens", run);
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Silent };
    return task;
  }
}

class MeasureTerminal implements vscode.Pseudoterminal {
  readonly #output = new vscode.EventEmitter<string>();
  readonly #closed = new vscode.EventEmitter<number>();
  readonly #cancellation = new vscode.CancellationTokenSource();
  readonly onDidWrite = this.#output.event;
  readonly onDidClose = this.#closed.event;

  constructor(
    private readonly api: Api,
    private readonly definition: Definition,
    private readonly folder: vscode.WorkspaceFolder | undefined,
  ) {}

  open(): void {
    void this.#run();
  }

  close(): void {
    this.#cancellation.cancel();
  }

  handleInput(data: string): void {
    if (data === "\u0003") this.#cancellation.cancel();
  }

  #line(text: string): void {
    this.#output.fire(`${text.replaceAll("\n", "\r\n")}\r\n`);
  }

  async #run(): Promise<void> {
    const { function: name, binary, program, args, cwd, pid, duration, backend } = this.definition;
    const inFolder = (text: string): string => expand(text, this.folder);
    try {
      const recording = await this.api.measure(
        {
          ...(name === undefined ? {} : { function: name }),
          ...(binary === undefined ? {} : { binary: inFolder(binary) }),
          ...(program === undefined ? {} : { program: inFolder(program), args: (args ?? []).map(inFolder), cwd: inFolder(cwd ?? "${workspaceFolder}") }),
          ...(this.folder === undefined ? {} : { settingsOf: this.folder.uri.fsPath }),
          ...(pid === undefined ? {} : { pid }),
          ...(duration === undefined ? {} : { duration }),
          ...(backend === undefined ? {} : { backend }),
          onProgress: (text) => {
            this.#output.fire(`\r\u001b[K${text}`);
          },
        },
        this.#cancellation.token,
      );
      this.#line("");
      if (name !== undefined) {
        const { latency, calls } = await this.api.report(recording, name, binary === undefined ? undefined : inFolder(binary));
        const durations = [explainedMean(latency), ...((["p50", "p99", "max"] as const).map((figure) => latencyFigure(latency, figure)))];
        this.#line(`${name}: ${vscode.l10n.t("mean {0} · p50 {1} · p99 {2} · max {3} · {4}", ...durations, formatCalls(calls.complete))}`);
      }
      this.#line(recording.path);
      this.#closed.fire(0);
    } catch (error) {
      this.#line(`\r\n${failureText(failureOf(error))}`);
      this.#closed.fire(1);
    }
  }
}
