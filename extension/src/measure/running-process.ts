import * as vscode from "vscode";
import { ExtensionError } from "../errors/failure";
import type { Client } from "../helper/client";
import type { Process } from "../protocol/protocol";

/** Returns the process with this id. `processes`: the list, if the caller has it. Throws if there is none. */
export async function runningProcess(client: Client, pid: number, processes?: Promise<readonly Process[]>): Promise<Process> {
  const list = await (processes ?? client.request("ptlens/processes", {}).then((result) => result.processes));
  const found = list.find((process) => process.pid === pid);
  if (found === undefined) {
    throw new ExtensionError("gone", vscode.l10n.t("Process {0} does not exist. It may have ended. Choose a running process.", String(pid)));
  }
  return found;
}
