// The programs of this workspace that can be started and measured: the setting's, those of launch
// configurations, and those of tasks.
import { existsSync } from "node:fs";
import os from "node:os";
import * as vscode from "vscode";
import { launchTarget, taskTarget, type ProgramTarget, type Variables } from "./program-target";
import { readSettings } from "./settings";

export function programTargets(): ProgramTarget[] {
  const { program, programArguments, workingDirectory } = readSettings();
  const configured: ProgramTarget[] =
    program === ""
      ? []
      : [{ name: "the configured program", source: "setting", program, args: programArguments, cwd: workingDirectory, env: {}, preLaunchTask: "", problem: "" }];
  return [...configured, ...(vscode.workspace.workspaceFolders ?? []).flatMap(ofFolder)];
}

function ofFolder(folder: vscode.WorkspaceFolder): ProgramTarget[] {
  const variables = variablesOf(folder);
  const launched = records(vscode.workspace.getConfiguration("launch", folder.uri).get("configurations"));
  const tasks = records(vscode.workspace.getConfiguration("tasks", folder.uri).get("tasks"));
  const targets = [
    ...launched.map((configuration) => launchTarget(configuration, variables)),
    ...tasks.map((task) => taskTarget(task, variables)),
  ].filter((target) => target !== undefined);
  return targets.map((target) =>
    target.problem === "" && !existsSync(target.program) ? { ...target, problem: `${target.program} does not exist yet` } : target,
  );
}

function variablesOf(folder: vscode.WorkspaceFolder): Variables {
  const open = vscode.window.activeTextEditor?.document.uri;
  return {
    workspaceFolder: folder.uri.fsPath,
    file: open?.scheme === "file" ? open.fsPath : "",
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

/** Runs the task of that name to its end. False: there is none, or it failed. */
export async function runTask(name: string): Promise<boolean> {
  const tasks = await vscode.tasks.fetchTasks();
  const task = tasks.find((candidate) => candidate.name === name || `${candidate.source}: ${candidate.name}` === name);
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
