// The programs that launch configurations and tasks of this workspace start.
import { existsSync } from "node:fs";
import os from "node:os";
import * as vscode from "vscode";
import { openFile } from "../base/settings";
import { launchTarget, taskTarget, type ProgramTarget, type Variables } from "./program-target";

export function workspacePrograms(): ProgramTarget[] {
  return (vscode.workspace.workspaceFolders ?? []).flatMap(folderPrograms);
}

function folderPrograms(folder: vscode.WorkspaceFolder): ProgramTarget[] {
  const variables = variablesOf(folder);
  const launched = records(vscode.workspace.getConfiguration("launch", folder.uri).get("configurations"));
  const tasks = records(vscode.workspace.getConfiguration("tasks", folder.uri).get("tasks"));
  const targets = [
    ...launched.map((configuration) => launchTarget(configuration, variables)),
    ...tasks.map((task) => taskTarget(task, variables)),
  ].filter((target) => target !== undefined);
  return targets.map((target) =>
    target.problem === undefined && !existsSync(target.program) ? { ...target, problem: { kind: "missing" } } : target,
  );
}

/** Returns the name of the folder if the workspace has several folders, else an empty string. */
function folderName(folder: vscode.WorkspaceFolder): string {
  return (vscode.workspace.workspaceFolders?.length ?? 0) > 1 ? folder.name : "";
}

function variablesOf(folder: vscode.WorkspaceFolder): Variables {
  const file = openFile();
  return {
    workspaceFolder: folder.uri.fsPath,
    folder: folderName(folder),
    folderNamed: (name) => vscode.workspace.workspaceFolders?.find((other) => other.name === name)?.uri.fsPath,
    file: file?.fsPath ?? "",
    home: os.homedir(),
    environment: process.env,
    setting: (name) => {
      const value: unknown = vscode.workspace.getConfiguration(undefined, folder.uri).get(name);
      return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
    },
  };
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((entry): entry is Record<string, unknown> => typeof entry === "object" && entry !== null) : [];
}

/** Runs a task to its end, preferably the one of the given folder. Returns false if it does not exist or failed. */
export async function runTask(name: string, folder: string): Promise<boolean> {
  const tasks = await vscode.tasks.fetchTasks();
  const named = tasks.filter((candidate) => candidate.name === name || `${candidate.source}: ${candidate.name}` === name);
  const isOfFolder = ({ scope }: vscode.Task): boolean => typeof scope === "object" && scope.name === folder;
  const task = named.find(isOfFolder) ?? named[0];
  if (task === undefined) return false;
  return new Promise((resolve, reject) => {
    let execution: vscode.TaskExecution | undefined;
    const subscription = vscode.Disposable.from(
      vscode.tasks.onDidEndTaskProcess((event) => {
        if (event.execution === execution) finish(event.exitCode === 0);
      }),
      vscode.tasks.onDidEndTask((event) => {
        if (event.execution === execution) setTimeout(() => { finish(true); }, 200); // a task without a process
      }),
    );
    const finish = (done: boolean): void => {
      subscription.dispose();
      resolve(done);
    };
    vscode.tasks.executeTask(task).then(
      (started) => {
        execution = started;
      },
      (error: unknown) => {
        subscription.dispose();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
