// Measure again: the same function with the same settings, of the same process or of the one that took its
// place.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import type { Panel } from "./panel";
import type { Process, RecordParams } from "./protocol";
import { mustBeTrusted, type Recorder } from "./recorder";
import type { RecordingItem, Session } from "./session";

export class MeasureAgain {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly recorder: Recorder,
    private readonly panel: Panel,
    private readonly log: Log,
  ) {}

  /** `key` of a recording; without one the active, else the newest that was measured here. */
  async run(key: string | undefined): Promise<void> {
    try {
      const item = this.#model(key);
      if (item?.measuredWith === undefined) {
        throw new Error(vscode.l10n.t("Nothing was measured in this workspace yet. Put the cursor on a function and measure it."));
      }
      mustBeTrusted();
      const params = await this.#present(item, item.measuredWith);
      if (params === undefined) return;
      await this.recorder.measure(params, { functions: item.functions, target: item.target });
      const [first] = item.functions;
      if (first === undefined) await this.panel.showOverview();
      else await this.panel.showFunction(first);
    } catch (error) {
      this.log.report(vscode.l10n.t("measure again"), error);
    }
  }

  #model(key: string | undefined): RecordingItem | undefined {
    const candidates = [this.session.find(key), ...(key === undefined ? [this.session.active, ...this.session.recordings] : [])];
    return candidates.find((item) => item?.measuredWith !== undefined);
  }

  /** The parameters for what runs now; nothing when the user gave up. */
  async #present(item: RecordingItem, params: RecordParams): Promise<RecordParams | undefined> {
    if (params.pid === undefined) return params;
    const { processes } = await this.client.request("ptlens/processes", {});
    const process = await this.#process(item, params, processes);
    return process && { ...params, pid: process.pid, start_time: process.start_time };
  }

  async #process(item: RecordingItem, params: RecordParams, processes: readonly Process[]): Promise<Process | undefined> {
    const same = processes.find(
      ({ pid, start_time, name }) => pid === params.pid && (params.start_time === undefined ? name === item.target : start_time === params.start_time),
    );
    if (same !== undefined) return same;
    const alike = processes.filter(({ name }) => name === item.target);
    if (alike.length <= 1) {
      if (alike[0] !== undefined) return alike[0];
      throw new Error(vscode.l10n.t("No process {0} runs any more. Start it and measure again.", item.target));
    }
    const items = alike.map((process) => ({ label: process.name, description: String(process.pid), detail: process.command, process }));
    const title = vscode.l10n.t("Measure {0} again", item.name);
    const picked = await vscode.window.showQuickPick(items, { title, placeHolder: vscode.l10n.t("Process to measure"), matchOnDescription: true });
    return picked?.process;
  }
}
