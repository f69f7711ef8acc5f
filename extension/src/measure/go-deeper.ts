// Go Deeper: measures a function that a measured one calls, in the same process with the same settings. A trace contains the
// callees of every function already, so that with a trace the panel shows the function at once.
import * as vscode from "vscode";
import { asRecord } from "../base/records";
import { ExtensionError } from "../errors/failure";
import type { Log } from "../errors/log";
import { withCandidates } from "../functions/candidates";
import { functionAt } from "../functions/function-picker";
import { functionRef, selectorOf } from "../functions/function-selector";
import type { Client } from "../helper/client";
import type { Panel } from "../panel/panel";
import type { FunctionSelector, RecordParams } from "../protocol/protocol";
import type { RecordingItem, Session } from "../recordings/session";
import { cursorLocation } from "../source/cursor-location";
import type { MeasureAgain } from "./measure-again";
import { withFunctions } from "./record-params";
import { requireTrust, type Recorder } from "./recorder";

export class GoDeeper {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly recorder: Recorder,
    private readonly panel: Panel,
    private readonly measureAgain: MeasureAgain,
    private readonly log: Log,
  ) {}

  /**
   * `argument` names the function, and with `id` the open recording that contains it; else it is a function of the active
   * recording. Without a name: the function at the cursor.
   */
  run(argument: unknown): Promise<void> {
    return this.log.attempt("go deeper", async () => {
      const { id, name } = asRecord(argument);
      const item = this.session.recordings.find(({ open }) => open !== undefined && open.id === id) ?? this.session.active;
      if (item === undefined) {
        throw new ExtensionError("not_now", vscode.l10n.t("There is no measurement yet. Measure a function first."), { actions: ["measure"] });
      }
      const named = typeof name === "string" ? await this.#identified(item, selectorOf(functionRef(argument, "ptlens.goDeeper"))) : undefined;
      if (item.figures.backend !== "uprobe" && named !== undefined) {
        await this.session.activateId(item.open?.id);
        await this.panel.showFunction(named);
        return;
      }
      if (item.measuredWith === undefined) {
        throw new ExtensionError("not_now", vscode.l10n.t("This recording was not measured in this workspace. Choose the process with Measure Latency."), { actions: ["measure"] });
      }
      requireTrust();
      const params = await this.measureAgain.currentParams(item, item.measuredWith);
      const chosen = params && (named ?? (await this.#atCursor(params)));
      if (params === undefined || chosen === undefined) return;
      const measured = await withCandidates(chosen, async (selector) => {
        await this.recorder.measure(withFunctions(params, [selector]), { functions: [selector], target: item.target });
        return selector;
      });
      await this.panel.showMeasured([measured]);
    });
  }

  /** Adds what finds the function in a binary that was rebuilt since the recording. */
  async #identified(item: RecordingItem, selector: FunctionSelector): Promise<FunctionSelector> {
    const { id } = await this.session.opened(item.key);
    const { function: found } = await this.client.request("ptlens/identify", { id, function: selector });
    return selectorOf(found);
  }

  async #atCursor({ pid, tid, program = "" }: RecordParams): Promise<FunctionSelector | undefined> {
    const location = await cursorLocation();
    if (location === undefined) {
      throw new ExtensionError("not_now", vscode.l10n.t("Open a source file and place the cursor on a function first."));
    }
    const process = pid ?? tid;
    return functionAt(this.client, location, process === undefined ? { program } : { pid: process });
  }
}
