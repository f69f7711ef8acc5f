// Asks for the target of a measurement: a process that is being debugged, a program to start, a running process (those
// built from the open file first), or one of its threads.
import * as vscode from "vscode";
import type { Process, ProcessThread } from "../protocol/protocol";
import { cpuText } from "./cpu-text";
import type { Debuggee } from "./debuggees";
import type { ProgramProblem, ProgramTarget } from "./program-target";

export type Target =
  | { readonly kind: "process"; readonly process: Process; /** Absent: all threads. */ readonly thread?: ProcessThread }
  | { readonly kind: "program"; readonly program: ProgramTarget };

/** The targets to choose from. */
export interface Choices {
  readonly programs: readonly ProgramTarget[];
  readonly debuggees: readonly Debuggee[];
  readonly processes: Promise<readonly Process[]>;
  readonly threads: (pid: number) => Promise<readonly ProcessThread[]>;
}

export interface Item extends vscode.QuickPickItem {
  readonly target?: Target;
}

/** `title` names the measurement. Returns undefined if the user cancels. */
export async function pickTarget(title: string, choices: Choices): Promise<Target | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = title;
  picker.placeholder = vscode.l10n.t("Process or program to measure");
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.busy = true;
  picker.items = targetItems(choices, []);
  picker.show();
  const chosen = new Promise<Target | undefined>((resolve) => {
    picker.onDidAccept(() => {
      const target = picker.selectedItems[0]?.target;
      if (target === undefined || problemOf(target) !== undefined) return;
      resolve(target);
      picker.hide();
    });
    picker.onDidTriggerItemButton(({ item: { target } }) => {
      if (target?.kind !== "process") return;
      resolve(pickThread(target.process, choices));
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
    });
  });
  try {
    const listed = await choices.processes;
    const items = targetItems(choices, listed);
    picker.items = items;
    const fromSource = items.filter(({ target }) => target?.kind === "process" && target.process.has_source);
    if (fromSource.length === 1) picker.activeItems = fromSource;
    picker.busy = false;
    return await chosen;
  } finally {
    picker.dispose();
  }
}

async function pickThread(process: Process, { threads }: Choices): Promise<Target | undefined> {
  const items = threads(process.pid).then((list): Item[] => [
    { label: `$(server-process) ${vscode.l10n.t("All threads")}`, description: vscode.l10n.t("process {0}", process.pid), target: { kind: "process", process } },
    ...list.map((thread) => ({
      label: `$(symbol-event) ${thread.name}`,
      description: [String(thread.tid), ...cpuText(thread.cpu_percent)].join(" · "),
      target: { kind: "process" as const, process, thread },
    })),
  ]);
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t("Threads of {0} ({1})", process.name, process.pid),
    placeHolder: vscode.l10n.t("Thread to measure, busiest first"),
    matchOnDescription: true,
  });
  return picked?.target;
}

function problemOf(target: Target): ProgramProblem | undefined {
  return target.kind === "program" ? target.program.problem : undefined;
}

/** Exported for tests. */
export function targetItems({ programs, debuggees }: Choices, processes: readonly Process[]): Item[] {
  const items: Item[] = [];
  const section = (label: string, members: readonly Item[]): void => {
    if (members.length > 0) items.push({ label, kind: vscode.QuickPickItemKind.Separator }, ...members);
  };
  const debugged = new Map(debuggees.map((debuggee) => [debuggee.pid, debuggee]));
  section(
    vscode.l10n.t("being debugged"),
    processes.flatMap((process) => {
      const debuggee = debugged.get(process.pid);
      return debuggee === undefined ? [] : [processItem(process, [vscode.l10n.t("debug session {0}", debuggee.name), ...(debuggee.stopped ? [vscode.l10n.t("stopped: continue it first")] : [])])];
    }),
  );
  section(vscode.l10n.t("start and measure"), programs.map(programItem));
  const others = processes.filter(({ pid }) => !debugged.has(pid));
  section(vscode.l10n.t("built from this file"), others.filter((process) => process.has_source).map((process) => processItem(process, [])));
  section(vscode.l10n.t("other processes"), others.filter((process) => !process.has_source).map((process) => processItem(process, [])));
  return items;
}

function programItem(program: ProgramTarget): Item {
  const { name, source, folder, args, preLaunchTask, problem } = program;
  const description = [
    sourceText(source),
    ...(folder === "" ? [] : [folder]),
    ...(preLaunchTask === "" ? [] : [vscode.l10n.t("after the task {0}", preLaunchTask)]),
    ...(problem === undefined ? [] : [problemText(problem, program)]),
  ];
  return {
    label: `${problem === undefined ? "$(play)" : "$(circle-slash)"} ${name}`,
    description: description.join(" · "),
    detail: [program.program, ...args].join(" "),
    target: { kind: "program", program },
  };
}

function sourceText(source: ProgramTarget["source"]): string {
  return source === "launch" ? vscode.l10n.t("launch configuration") : vscode.l10n.t("task");
}

function problemText(problem: ProgramProblem, { program }: ProgramTarget): string {
  switch (problem.kind) {
    case "variables":
      return vscode.l10n.t("PT Lens cannot replace {0}", problem.names.join(", "));
    case "goPackage":
      return vscode.l10n.t("the debugger builds this Go package; use mode \"exec\"");
    case "missing":
      return vscode.l10n.t("{0} does not exist yet", program);
  }
}

function processItem(process: Process, marks: readonly string[]): Item {
  const threads: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("list-tree"), tooltip: vscode.l10n.t("Choose a Thread…") };
  return {
    label: `${process.may_attach ? "$(server-process)" : "$(lock)"} ${process.name}`,
    description: [
      String(process.pid),
      process.user,
      age(process.age_s),
      ...cpuText(process.cpu_percent),
      ...(process.threads > 1 ? [vscode.l10n.t("{0} threads", process.threads)] : []),
      ...marks,
      ...(process.rebuilt ? [vscode.l10n.t("rebuilt since it started")] : []),
      ...(process.container ? [vscode.l10n.t("in a container")] : []),
      ...(process.may_attach ? [] : [vscode.l10n.t("no permission to measure it")]),
    ].join(" · "),
    detail: process.command,
    ...(process.threads > 1 ? { buttons: [threads] } : {}),
    target: { kind: "process", process },
  };
}

function age(seconds: number): string {
  if (seconds < 60) return vscode.l10n.t("{0} s", seconds.toFixed(0));
  if (seconds < 3600) return vscode.l10n.t("{0} min", (seconds / 60).toFixed(0));
  return seconds < 86400 ? vscode.l10n.t("{0} h", (seconds / 3600).toFixed(0)) : vscode.l10n.t("{0} d", (seconds / 86400).toFixed(0));
}
