// Asks what to measure: a running process, those built from the open file first, or the program of
// the settings.
import * as vscode from "vscode";
import type { Process } from "./protocol";

export type Target =
  | { readonly kind: "process"; readonly process: Process }
  | { readonly kind: "program" };

interface Item extends vscode.QuickPickItem {
  readonly target?: Target;
}

/** `program` is the configured program, empty: none. Undefined: the user gave up. */
export async function pickTarget(
  functionName: string,
  program: string,
  processes: Promise<readonly Process[]>,
): Promise<Target | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = functionName === "" ? "Measure latency" : `Measure latency of ${functionName}`;
  picker.placeholder = "Process to measure";
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.busy = true;
  picker.show();
  const chosen = new Promise<Target | undefined>((resolve) => {
    picker.onDidAccept(() => {
      const target = picker.selectedItems[0]?.target;
      if (target === undefined) return;
      resolve(target);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
    });
  });
  try {
    const listed = await processes;
    const items = pickerItems(program, listed);
    picker.items = items;
    const fromSource = items.filter((item) => item.target?.kind === "process" && item.target.process.has_source);
    const preferred = fromSource.length === 1 ? fromSource[0] : undefined;
    if (preferred !== undefined) picker.activeItems = [preferred];
    picker.busy = false;
    return await chosen;
  } finally {
    picker.dispose();
  }
}

function pickerItems(program: string, processes: readonly Process[]): Item[] {
  const items: Item[] = [];
  if (program !== "") {
    items.push({
      label: "$(play) Start the configured program",
      description: program,
      alwaysShow: true,
      target: { kind: "program" },
    });
  }
  const section = (label: string, members: readonly Process[]): void => {
    if (members.length === 0) return;
    items.push({ label, kind: vscode.QuickPickItemKind.Separator }, ...members.map(processItem));
  };
  section(
    "built from this file",
    processes.filter((process) => process.has_source),
  );
  section(
    "other processes",
    processes.filter((process) => !process.has_source),
  );
  return items;
}

function processItem(process: Process): Item {
  return {
    label: `${process.may_attach ? "$(server-process)" : "$(lock)"} ${process.name}`,
    description: [
      String(process.pid),
      process.user,
      age(process.age_s),
      ...(process.cpu_percent >= 1 ? [`${process.cpu_percent.toFixed(0)} % CPU`] : []),
      ...(process.container ? ["in a container"] : []),
    ].join(" · "),
    detail: process.command,
    target: { kind: "process", process },
  };
}

function age(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(0)} s`;
  if (seconds < 3600) return `${(seconds / 60).toFixed(0)} min`;
  return seconds < 86400 ? `${(seconds / 3600).toFixed(0)} h` : `${(seconds / 86400).toFixed(0)} d`;
}
