// The processes of running debug sessions: a debug adapter tells the number of its process by the event
// `process` (Debug Adapter Protocol), and whether it is stopped.
import * as vscode from "vscode";
import { asRecord } from "../base/records";

export interface Debuggee {
  readonly pid: number;
  /** Of the debug session. */
  readonly name: string;
  /** At a breakpoint: nothing can be measured until it goes on. */
  readonly stopped: boolean;
}

export class Debuggees implements vscode.Disposable {
  readonly #sessions = new Map<string, Debuggee>();
  readonly #subscriptions: vscode.Disposable[];

  constructor() {
    this.#subscriptions = [
      vscode.debug.registerDebugAdapterTrackerFactory("*", {
        createDebugAdapterTracker: (session) => ({
          onDidSendMessage: (message: unknown) => {
            this.#receive(session, message);
          },
        }),
      }),
      vscode.debug.onDidTerminateDebugSession(({ id }) => {
        this.#sessions.delete(id);
      }),
    ];
  }

  /** That of the active session first. */
  get all(): Debuggee[] {
    const active = vscode.debug.activeDebugSession?.id;
    return [...this.#sessions].sort(([one], [other]) => Number(other === active) - Number(one === active)).map(([, debuggee]) => debuggee);
  }

  #receive(session: vscode.DebugSession, message: unknown): void {
    const { type, event, body } = asRecord(message);
    if (type !== "event") return;
    const known = this.#sessions.get(session.id);
    const { systemProcessId } = asRecord(body);
    if (event === "process" && typeof systemProcessId === "number") {
      this.#sessions.set(session.id, { pid: systemProcessId, name: session.name, stopped: false });
    } else if (known !== undefined && (event === "stopped" || event === "continued")) {
      this.#sessions.set(session.id, { ...known, stopped: event === "stopped" });
    } else if (event === "exited" || event === "terminated") {
      this.#sessions.delete(session.id);
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
