// Measure Again: the same functions with the same settings, in the same process or in the one that replaced it. After a
// rebuild, the helper finds the functions by their names: see functions/function-selector.ts.
import * as vscode from "vscode";
import { ExtensionError } from "../errors/failure";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { Panel } from "../panel/panel";
import type { Process, RecordParams } from "../protocol/protocol";
import type { RecordingItem, Session } from "../recordings/session";
import { requireTrust, type Recorder } from "./recorder";

export class MeasureAgain {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly recorder: Recorder,
    private readonly panel: Panel,
    private readonly log: Log,
  ) {}

  /** `key` names a recording. Without it: the active one, else the newest that was measured here. */
  run(key: string | undefined): Promise<void> {
    return this.log.attempt("measure again", async () => {
      const item = this.#earlier(key);
      if (item?.measuredWith === undefined) {
        throw new ExtensionError("not_now", vscode.l10n.t("There is no measurement to repeat. Place the cursor on a function and measure it."), { actions: ["measure"] });
      }
      requireTrust();
      const params = await this.currentParams(item, item.measuredWith);
      if (params === undefined) return;
      await this.recorder.measure(params, { functions: item.functions, target: item.target });
      await this.panel.showMeasured(item.functions);
    });
  }

  #earlier(key: string | undefined): RecordingItem | undefined {
    const candidates = key === undefined ? [this.session.active, ...this.session.recordings] : [this.session.find(key)];
    return candidates.find((item) => item?.measuredWith !== undefined);
  }

  /** Returns the parameters for the process that runs now; undefined if the user cancels. */
  async currentParams(item: RecordingItem, params: RecordParams): Promise<RecordParams | undefined> {
    if (params.pid === undefined) return params;
    const { processes } = await this.client.request("ptlens/processes", {});
    const process = await this.#currentProcess(item, params, processes);
    return process && { ...params, pid: process.pid, start_time: process.start_time };
  }

  async #currentProcess(item: RecordingItem, params: RecordParams, processes: readonly Process[]): Promise<Process | undefined> {
    const same = processes.find(
      ({ pid, start_time, name }) => pid === params.pid && (params.start_time === undefined ? name === item.target : start_time === params.start_time),
    );
    if (same !== undefined) return same;
    const [first, ...others] = processes.filter(({ name }) => name === item.target);
    if (first === undefined) throw new ExtensionError("gone", vscode.l10n.t("{0} is not running. Start it and measure again.", item.target));
    if (others.length === 0) return first;
    const items = [first, ...others].map((process) => ({ label: process.name, description: String(process.pid), detail: process.command, process }));
    const title = vscode.l10n.t("Measure {0} again", item.name);
    const picked = await vscode.window.showQuickPick(items, { title, placeHolder: vscode.l10n.t("Process to measure"), matchOnDescription: true });
    return picked?.process;
  }
}
