// The processes of running debug sessions. A debug adapter reports the id of its process in the event `process` of the
// Debug Adapter Protocol, and reports when the process stops and continues.
import * as vscode from "vscode";
import { asRecord } from "../base/records";

export interface Debuggee {
  readonly pid: number;
  /** Name of the debug session. */
  readonly name: string;
  /** Whether it is at a breakpoint. Nothing can be measured until it continues. */
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

  /** All debuggees, the one of the active session first. */
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
