// Wires the features together.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { pickAction } from "./status/action-picker";
import { makeApi, type Api } from "./api/api";
import { BundleCommand } from "./recordings/bundle-command";
import { asRecord } from "./base/records";
import { Client } from "./helper/client";
import { Debuggees } from "./targets/debuggees";
import { DoctorCommand } from "./machine/doctor-command";
import { FunctionsView } from "./functions/functions-view";
import { tellOfEnds } from "./measure/helper-exit";
import { lensMiddleware } from "./annotations/lens-middleware";
import { LineDecorations } from "./annotations/line-decorations";
import { LineTimeCommand } from "./annotations/line-time-command";
import { Log } from "./errors/log";
import { MeasureAgain } from "./measure/measure-again";
import { MeasureCommand } from "./measure/measure-command";
import { MeasureLens } from "./annotations/measure-lens";
import { MeasureSelected } from "./measure/measure-selected";
import { OpenCommand } from "./recordings/open-command";
import { functionRef, selectorOf } from "./functions/function-selector";
import { Panel } from "./panel/panel";
import { panelView } from "./panel/panel-messages";
import { ProcessesView } from "./targets/processes-view";
import { Recorder } from "./measure/recorder";
import { RecordingCommands } from "./recordings/recording-commands";
import { RecordingsView } from "./recordings/recordings-view";
import { Restorer } from "./recordings/restorer";
import { grantRights } from "./machine/rights";
import { measureSample } from "./measure/measure-sample";
import { Session } from "./recordings/session";
import { Status } from "./status/status-item";
import { TaskProvider, taskType } from "./api/measure-task";

export type { Api } from "./api/api";

let client: Client | undefined;

export function activate(context: vscode.ExtensionContext): Api {
  // Code without the vscode module takes its texts from the same bundle.
  if (vscode.l10n.bundle !== undefined) l10n.config({ contents: vscode.l10n.bundle });
  const log = new Log();
  const helper = (client = new Client(context, log, lensMiddleware));
  const session = new Session(helper, log, context.workspaceState);
  const panel = new Panel(context, helper, session, log);
  const status = new Status(helper, session);
  const decorations = new LineDecorations(helper, session, log);
  const recorder = new Recorder(helper, session, status);
  const debuggees = new Debuggees();
  const measure = new MeasureCommand(helper, recorder, panel, debuggees, log);
  const again = new MeasureAgain(helper, session, recorder, panel, log);
  const selected = new MeasureSelected(helper, measure, recorder, panel, log);
  const open = new OpenCommand(helper, session, panel, log);
  const doctor = new DoctorCommand(helper, log, ({ backend }) => { status.setBackend(backend); });

  const recordings = new RecordingsView(session);
  const bundle = new BundleCommand(helper, session, recordings.view, log);
  const functions = new FunctionsView(helper, session, log);
  const processes = new ProcessesView(helper, log);
  const lineTime = new LineTimeCommand(helper, session, decorations, log);
  const api = makeApi({ client: helper, session, recorder, panel, open, decorations });
  const command = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`ptlens.${name}`, run);
  context.subscriptions.push(
    log,
    helper,
    session,
    panel,
    status,
    decorations,
    debuggees,
    doctor,
    recordings,
    functions,
    processes,
    ...new RecordingCommands(helper, session, panel, recordings.view, log).register(),
    ...functions.register(),
    new MeasureLens(helper, session),
    command("measureLatency", (argument) => measure.run(argument)),
    command("measureFunction", (argument) => measure.run(namedFunction(argument))),
    command("measureAgain", (argument) => again.run(keyOf(argument))),
    command("measureSelected", (argument) => selected.run(Array.isArray(argument) ? argument.map((each) => selectorOf(functionRef(each, "ptlens.measureSelected"))) : [])),
    command("finish", () => attempt(log, vscode.l10n.t("stop measuring"), () => recorder.finish())),
    vscode.tasks.registerTaskProvider(taskType, new TaskProvider(api)),
    command("recordSnapshot", (argument) => measure.recordSnapshot(argument)),
    command("catchSlowCall", (argument) => measure.catchSlowCall(argument)),
    command("saveSnapshot", () => attempt(log, vscode.l10n.t("save the snapshot"), () => recorder.saveSnapshot())),
    command("bundleRecording", (argument) => bundle.run(argument)),
    command("openRecording", (argument, name) => open.run(argument, typeof name === "string" ? name : "")),
    command("clear", () => session.clear()),
    command("showFlameGraph", () => attempt(log, vscode.l10n.t("show the results"), () => panel.reveal())),
    command("showFunction", (argument) =>
      attempt(log, vscode.l10n.t("show the results"), () =>
        panel.showFunction(selectorOf(functionRef(argument, "ptlens.showFunction")), { view: panelView(argument) }),
      ),
    ),
    command("showLineTime", () => lineTime.run()),
    command("showLog", () => {
      log.channel.show();
    }),
    tellOfEnds(helper, recorder, log),
    command("restartHelper", () => attempt(log, vscode.l10n.t("restart the helper"), () => helper.restart())),
    command("doctor", () => doctor.run()),
    command("actions", () => pickAction(session)),
    command("grantRights", () => grantRights(helper, log, ({ backend }) => { status.setBackend(backend); })),
    command("measureSample", () => measureSample(context, recorder, panel, log)),
    command("walkthrough", () => vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#ptlens.start`, false)),
  );

  const restorer = new Restorer(helper, session);
  context.subscriptions.push(restorer);
  const recording = process.env.PTLENS_OPEN_RECORDING ?? "";
  if (recording !== "") void open.run(recording, process.env.PTLENS_OPEN_FUNCTION ?? "");
  else restorer.restoreIfNeeded();
  return api;
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function attempt(log: Log, doing: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.report(doing, error);
  }
}

/** Of a row in the list of recordings, or the key itself. */
function keyOf(argument: unknown): string | undefined {
  const key = typeof argument === "object" && argument !== null ? (argument as { key?: unknown }).key : argument;
  return typeof key === "string" ? key : undefined;
}

/** Of a code lens: the function by its name, and the source that it is in. */
function namedFunction(argument: unknown): unknown {
  const { name, ...others } = asRecord(argument);
  return { ...others, function: name };
}
