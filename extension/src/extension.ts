// Wires the features together.
import * as vscode from "vscode";
import { Client } from "./client";
import { DoctorCommand } from "./doctor-command";
import { LineDecorations } from "./line-decorations";
import { LineTracker } from "./line-tracker";
import { Log } from "./log";
import { MeasureCommand } from "./measure-command";
import { OpenCommand } from "./open-command";
import { Panel, selectorOf } from "./panel";
import type { FunctionRef } from "./panel-messages";
import { Session } from "./session";
import { Status } from "./status";

/** What activate returns: for tests in the extension host, and other extensions. */
export interface Api {
  readonly session: Session;
  readonly decorations: LineDecorations;
}

let client: Client | undefined;

export function activate(context: vscode.ExtensionContext): Api {
  const log = new Log();
  const tracker = new LineTracker();
  const helper = (client = new Client(context, log, tracker.middleware));
  const session = new Session(helper, log);
  const panel = new Panel(context, helper, session, tracker, log);
  const status = new Status(helper, session);
  const decorations = new LineDecorations(helper, session, tracker, log);
  const measure = new MeasureCommand(helper, session, panel, status, log);
  const open = new OpenCommand(helper, session, panel, log);
  const doctor = new DoctorCommand(helper, log);

  const command = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`ptlens.${name}`, run);
  context.subscriptions.push(
    log,
    tracker,
    helper,
    session,
    panel,
    status,
    decorations,
    doctor,
    command("measureLatency", (argument) => measure.run(argument)),
    command("finish", () => measure.finish()),
    command("openRecording", (argument, name) => open.run(argument, typeof name === "string" ? name : "")),
    command("clear", () => session.clear()),
    command("showFlameGraph", () => attempt(log, () => panel.reveal())),
    command("showFunction", (argument) => attempt(log, () => panel.showFunction(selectorOf(functionRef(argument))))),
    command("showLog", () => {
      log.channel.show();
    }),
    command("doctor", () => doctor.run()),
  );

  const recording = process.env.PTLENS_OPEN_RECORDING ?? "";
  if (recording !== "") void open.run(recording, process.env.PTLENS_OPEN_FUNCTION ?? "");
  return { session, decorations };
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function attempt(log: Log, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.report("show results", error);
  }
}

function functionRef(argument: unknown): FunctionRef {
  const values = (typeof argument === "object" && argument !== null ? argument : {}) as Record<string, unknown>;
  const { name, binary, address } = values;
  if (typeof name !== "string") throw new Error("ptlens.showFunction needs the name of a function.");
  return {
    name,
    binary: typeof binary === "string" ? binary : "",
    address: typeof address === "string" ? address : null,
  };
}
