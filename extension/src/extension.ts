// The entry point: creates the features and registers the commands.
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { lensMiddleware } from "./annotations/lens-middleware";
import { LineDecorations } from "./annotations/line-decorations";
import { LineTimeCommand } from "./annotations/line-time-command";
import { MeasureLens } from "./annotations/measure-lens";
import { makeApi, type Api } from "./api/api";
import { TaskProvider, taskType } from "./api/measure-task";
import { asRecord } from "./base/records";
import { Log } from "./errors/log";
import { functionRef, selectorOf } from "./functions/function-selector";
import { FunctionsView } from "./functions/functions-view";
import { Client } from "./helper/client";
import { DoctorCommand } from "./machine/doctor-command";
import { grantPermissions } from "./machine/grant-permissions";
import { GoDeeper } from "./measure/go-deeper";
import { reportHelperExit } from "./measure/helper-exit";
import { MeasureAgain } from "./measure/measure-again";
import { MeasureCommand } from "./measure/measure-command";
import { measureSample } from "./measure/measure-sample";
import { MeasureSelected } from "./measure/measure-selected";
import { Recorder } from "./measure/recorder";
import { Panel } from "./panel/panel";
import { panelSection } from "./panel/panel-messages";
import type { DoctorResult } from "./protocol/protocol";
import { BundleCommand } from "./recordings/bundle-command";
import { OpenCommand } from "./recordings/open-command";
import { RecordingCommands } from "./recordings/recording-commands";
import { RecordingsView } from "./recordings/recordings-view";
import { Restorer } from "./recordings/restorer";
import { Session } from "./recordings/session";
import { pickAction } from "./status/action-picker";
import { Status } from "./status/status-item";
import { Debuggees } from "./targets/debuggees";
import { ProcessesView } from "./targets/processes-view";

export type { Api } from "./api/api";

let runningClient: Client | undefined;

export function activate(context: vscode.ExtensionContext): Api {
  // Code without the vscode module takes its translations from the same bundle.
  if (vscode.l10n.bundle !== undefined) l10n.config({ contents: vscode.l10n.bundle });
  const log = new Log();
  const client = (runningClient = new Client(context, log, lensMiddleware));
  const session = new Session(client, log, context.workspaceState);
  const panel = new Panel(context, client, session, log);
  const status = new Status(client, session);
  const decorations = new LineDecorations(client, session, log);
  const recorder = new Recorder(client, session, status);
  const debuggees = new Debuggees();
  const showBackend = ({ backend }: DoctorResult): void => {
    status.setBackend(backend);
  };

  const recordings = new RecordingsView(session);
  const functions = new FunctionsView(client, session, log);
  const processes = new ProcessesView(client, log);

  const measure = new MeasureCommand(client, recorder, panel, debuggees, log);
  const measureAgain = new MeasureAgain(client, session, recorder, panel, log);
  const goDeeper = new GoDeeper(client, session, recorder, panel, measureAgain, log);
  const measureSelected = new MeasureSelected(client, measure, recorder, panel, log);
  const open = new OpenCommand(client, session, panel, log);
  const bundle = new BundleCommand(client, session, recordings.view, log);
  const lineTime = new LineTimeCommand(client, session, decorations, log);
  const doctor = new DoctorCommand(client, log, showBackend);
  const restorer = new Restorer(client, session);
  const api = makeApi({ client, session, recorder, panel, open, decorations });

  const command = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`ptlens.${name}`, run);
  context.subscriptions.push(
    log,
    client,
    session,
    panel,
    status,
    decorations,
    debuggees,
    doctor,
    recordings,
    functions,
    processes,
    restorer,
    new MeasureLens(client, session),
    reportHelperExit(client, recorder, log),
    vscode.tasks.registerTaskProvider(taskType, new TaskProvider(api)),

    // The views register the commands of their rows: ptlens.recording.*, ptlens.functions.* and ptlens.processes.*.
    ...new RecordingCommands(client, session, panel, recordings.view, log).register(),
    ...functions.register(),

    command("measureLatency", (argument) => measure.run(argument)),
    command("measureFunction", (argument) => measure.run(namedFunction(argument))),
    command("measureAgain", (argument) => measureAgain.run(keyOf(argument))),
    command("goDeeper", (argument) => goDeeper.run(argument)),
    command("measureSelected", (argument) => measureSelected.run(functionList(argument))),
    command("measureSample", () => measureSample(context, recorder, panel, log)),
    command("recordSnapshot", (argument) => measure.recordSnapshot(argument)),
    command("saveSnapshot", () => log.attempt("save the snapshot", () => recorder.saveSnapshot())),
    command("catchSlowCall", (argument) => measure.catchSlowCall(argument)),
    command("finish", () => log.attempt("stop measuring", () => recorder.finish())),

    command("openRecording", (argument, name) => open.run(argument, typeof name === "string" ? name : "")),
    command("chooseBinaries", () => open.chooseBinaries()),
    command("bundleRecording", (argument) => bundle.run(argument)),
    command("clear", () => session.clear()),

    command("showFlameGraph", () => log.attempt("show the results", () => panel.reveal())),
    command("showFunction", (argument) =>
      log.attempt("show the function", async () => {
        const { id } = asRecord(argument);
        await session.activateId(typeof id === "string" ? id : undefined);
        await panel.showFunction(selectorOf(functionRef(argument, "ptlens.showFunction")), { section: panelSection(argument) });
      }),
    ),
    command("showLineTime", () => lineTime.run()),
    command("showLog", () => {
      log.channel.show();
    }),

    command("doctor", () => doctor.run()),
    command("grantRights", () => grantPermissions(client, log, showBackend)),
    command("restartHelper", () => log.attempt("restart the helper", () => client.restart())),
    command("actions", () => pickAction(session)),
    command("walkthrough", () => vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#ptlens.start`, false)),
  );

  const recording = process.env.PTLENS_OPEN_RECORDING ?? "";
  if (recording !== "") void open.run(recording, process.env.PTLENS_OPEN_FUNCTION ?? "");
  else restorer.restoreIfNeeded();
  return api;
}

export async function deactivate(): Promise<void> {
  await runningClient?.stop();
}

/** Reads the key of a recording from a row of the list, or from the key itself. */
function keyOf(argument: unknown): string | undefined {
  const key = typeof argument === "string" ? argument : asRecord(argument).key;
  return typeof key === "string" ? key : undefined;
}

/** Converts the argument of a code lens, which has the field `name`, to arguments of Measure Latency. */
function namedFunction(argument: unknown): unknown {
  const { name, ...others } = asRecord(argument);
  return { ...others, function: name };
}

function functionList(argument: unknown): ReturnType<typeof selectorOf>[] {
  return Array.isArray(argument) ? argument.map((each) => selectorOf(functionRef(each, "ptlens.measureSelected"))) : [];
}
