// Makes one recording at a time, with progress that can be cancelled or stopped and shown, and makes what
// was measured the active recording.
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import { HelperEnded } from "../errors/failure";
import { withProgress, type ProgressReport } from "../base/progress";
import type { FunctionSelector, RecordParams } from "../protocol/protocol";
import type { MeasuredWith } from "../recordings/recording-entry";
import type { RecordingItem, Session } from "../recordings/session";
import type { Status } from "../status/status-item";

/** What a recording is made of, for people. */
export interface Subject {
  /** None: every function alike. */
  readonly functions: readonly FunctionSelector[];
  /** The process or program. */
  readonly target: string;
}

export interface RecorderOptions {
  readonly onProgress?: (report: ProgressReport) => void;
  readonly token?: vscode.CancellationToken;
  /** Of the progress; absent: what is measured. */
  readonly title?: string;
  /** The last moments alone are kept, and can be saved while it runs. */
  readonly snapshot?: boolean;
}

/** ms between the failure of a request and the news that the helper ended. */
const longestDelay = 10_000;

interface Attempt {
  readonly repeat: () => Promise<RecordingItem>;
  failedAt?: number;
}

interface Running {
  readonly token: string;
  begun: boolean;
  stopWanted: boolean;
}

/** Until the user trusts the folder, nothing of it is started and nothing is measured. */
export function mustBeTrusted(): void {
  if (!vscode.workspace.isTrusted) throw new Error(vscode.l10n.t("Trust this folder first. Until then only recordings can be opened."));
}

export class Recorder {
  #running: Running | undefined;
  #attempt: Attempt | undefined;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly status: Status,
  ) {}

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Rejects where nothing may be measured now: in a folder that is not trusted, or while a measurement runs. */
  async measure(params: RecordParams, subject: Subject, options: RecorderOptions = {}): Promise<RecordingItem> {
    mustBeTrusted();
    if (this.#running !== undefined) throw new Error(vscode.l10n.t("A measurement is running already. Stop it first."));
    const running: Running = { token: this.client.newProgressToken(), begun: false, stopWanted: false };
    this.#running = running;
    const attempt: Attempt = { repeat: () => this.measure(params, subject) };
    this.#attempt = attempt;
    const button = this.status.recording();
    await vscode.commands.executeCommand("setContext", "ptlens.recordingSnapshot", options.snapshot === true);
    try {
      const name = subject.functions.map((each) => each.name).join(", ") || subject.target;
      const { recording } = await withProgress(options.title ?? vscode.l10n.t("PT Lens: measuring {0}", name), (onProgress, token) => {
        const source = new vscode.CancellationTokenSource();
        const cancel = (): void => {
          source.cancel();
        };
        token.onCancellationRequested(cancel);
        options.token?.onCancellationRequested(cancel);
        const onReport = (report: ProgressReport): void => {
          this.#follow(running, report);
          options.onProgress?.(report);
          onProgress(withStopLink(running, report));
        };
        return this.client.requestWithProgress("ptlens/record", params, running.token, onReport, source.token);
      });
      this.#attempt = undefined;
      return await this.session.show(recording, { ...subject, when: Date.now(), measuredWith: withoutOutput(params) });
    } catch (error) {
      if (error instanceof HelperEnded) attempt.failedAt = Date.now();
      else this.#attempt = undefined;
      throw error;
    } finally {
      this.#running = undefined;
      button.dispose();
      void vscode.commands.executeCommand("setContext", "ptlens.recordingSnapshot", false);
    }
  }

  /**
   * The measurement that the helper's end has just cut short, to be made once more; asked for once. Its request may
   * still wait for its own failure.
   */
  takeInterrupted(): (() => Promise<RecordingItem>) | undefined {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    return attempt?.failedAt === undefined || Date.now() - attempt.failedAt < longestDelay ? attempt?.repeat : undefined;
  }

  /** Ends the running measurement and keeps what was recorded; one that has not begun ends once it has something. */
  async finish(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.stopWanted = true;
    if (running.begun) await this.client.request("ptlens/finish", { token: running.token });
  }

  /** Saves what the buffers hold now; the recording goes on. */
  async saveSnapshot(): Promise<void> {
    const token = this.#running?.token;
    if (token === undefined) return;
    const { found } = await this.client.request("ptlens/snapshot", { token });
    if (found) vscode.window.setStatusBarMessage(vscode.l10n.t("PT Lens: the snapshot is saved"), 3000);
  }

  #follow(running: Running, report: ProgressReport): void {
    if (running.begun || !isRecording(report)) return;
    running.begun = true;
    // What fails here fails the request for the recording as well, and is told there.
    if (running.stopWanted) this.finish().catch(() => undefined);
  }
}

/** The helper's progress message begins with the name of the stage. */
function isRecording(report: ProgressReport): report is ProgressReport & { message: string } {
  return report.message?.startsWith("recording") === true;
}

function withStopLink(running: Running, report: ProgressReport): ProgressReport {
  if (!running.begun || running.stopWanted || !isRecording(report)) return report;
  return { ...report, message: `${report.message} · [${vscode.l10n.t("Stop and Show Now")}](command:ptlens.finish)` };
}

/** The next measurement goes to a folder of its own. */
function withoutOutput(params: RecordParams): MeasuredWith {
  const measuredWith = { ...params };
  delete measuredWith.output;
  return measuredWith;
}
