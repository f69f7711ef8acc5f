// Asks what to measure: what is being debugged, a program that can be started, a running process (those
// built from the open file first), or one of its threads.
import * as vscode from "vscode";
import type { Debuggee } from "./debuggees";
import type { ProgramTarget } from "./program-target";
import type { Process, ProcessThread } from "./protocol";

export type Target =
  | { readonly kind: "process"; readonly process: Process; /** Only this one. */ readonly thread?: ProcessThread }
  | { readonly kind: "program"; readonly program: ProgramTarget };

/** What there is to choose from. */
export interface Choices {
  readonly programs: readonly ProgramTarget[];
  readonly debuggees: readonly Debuggee[];
  readonly processes: Promise<readonly Process[]>;
  readonly threads: (pid: number) => Promise<readonly ProcessThread[]>;
}

export interface Item extends vscode.QuickPickItem {
  readonly target?: Target;
}

const threadsButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("list-tree"), tooltip: "One of its threads…" };

/** `title` names what is measured. Undefined: the user gave up. */
export async function pickTarget(title: string, choices: Choices): Promise<Target | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = title;
  picker.placeholder = "Process or program to measure";
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.busy = true;
  picker.items = targetItems(choices, []);
  picker.show();
  const chosen = new Promise<Target | undefined>((resolve) => {
    picker.onDidAccept(() => {
      const target = picker.selectedItems[0]?.target;
      if (target === undefined || problemOf(target) !== "") return;
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
    { label: "$(server-process) All threads", description: `process ${String(process.pid)}`, target: { kind: "process", process } },
    ...list.map((thread) => ({
      label: `$(symbol-event) ${thread.name}`,
      description: [String(thread.tid), ...share(thread.cpu_percent)].join(" · "),
      target: { kind: "process" as const, process, thread },
    })),
  ]);
  const picked = await vscode.window.showQuickPick(items, {
    title: `Threads of ${process.name} (${String(process.pid)})`,
    placeHolder: "Thread to measure, the busiest first",
    matchOnDescription: true,
  });
  return picked?.target;
}

function problemOf(target: Target): string {
  return target.kind === "program" ? target.program.problem : "";
}

/** Exported for tests. */
export function targetItems({ programs, debuggees }: Choices, processes: readonly Process[]): Item[] {
  const items: Item[] = [];
  const section = (label: string, members: readonly Item[]): void => {
    if (members.length > 0) items.push({ label, kind: vscode.QuickPickItemKind.Separator }, ...members);
  };
  const debugged = new Map(debuggees.map((debuggee) => [debuggee.pid, debuggee]));
  section(
    "being debugged",
    processes.flatMap((process) => {
      const debuggee = debugged.get(process.pid);
      return debuggee === undefined ? [] : [processItem(process, [`debug session ${debuggee.name}`, ...(debuggee.stopped ? ["stopped: let it go on"] : [])])];
    }),
  );
  section("start and measure", programs.map(programItem));
  const others = processes.filter(({ pid }) => !debugged.has(pid));
  section("built from this file", others.filter((process) => process.has_source).map((process) => processItem(process, [])));
  section("other processes", others.filter((process) => !process.has_source).map((process) => processItem(process, [])));
  return items;
}

function programItem(program: ProgramTarget): Item {
  const { name, source, args, preLaunchTask, problem } = program;
  const label = source === "setting" ? "Start the configured program" : name;
  const kind = { setting: "", launch: "launch configuration", task: "task" }[source];
  return {
    label: `${problem === "" ? "$(play)" : "$(circle-slash)"} ${label}`,
    description: [kind, ...(preLaunchTask === "" ? [] : [`after the task ${preLaunchTask}`]), ...(problem === "" ? [] : [problem])].filter((part) => part !== "").join(" · "),
    detail: [program.program, ...args].join(" "),
    alwaysShow: source === "setting",
    target: { kind: "program", program },
  };
}

function processItem(process: Process, marks: readonly string[]): Item {
  return {
    label: `${process.may_attach ? "$(server-process)" : "$(lock)"} ${process.name}`,
    description: [
      String(process.pid),
      process.user,
      age(process.age_s),
      ...share(process.cpu_percent),
      ...(process.threads > 1 ? [`${String(process.threads)} threads`] : []),
      ...marks,
      ...(process.rebuilt ? ["rebuilt since it started"] : []),
      ...(process.container ? ["in a container"] : []),
      ...(process.may_attach ? [] : ["no rights to measure it"]),
    ].join(" · "),
    detail: process.command,
    ...(process.threads > 1 ? { buttons: [threadsButton] } : {}),
    target: { kind: "process", process },
  };
}

function share(percent: number): string[] {
  return percent >= 1 ? [`${percent.toFixed(0)} % CPU`] : [];
}

function age(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(0)} s`;
  if (seconds < 3600) return `${(seconds / 60).toFixed(0)} min`;
  return seconds < 86400 ? `${(seconds / 3600).toFixed(0)} h` : `${(seconds / 86400).toFixed(0)} d`;
}
