// Makes one recording at a time, with progress that can be cancelled or stopped, and makes it the active recording.
import * as vscode from "vscode";
import { withProgress, type ProgressReport } from "../base/progress";
import { ExtensionError, failureOf } from "../errors/failure";
import type { Client } from "../helper/client";
import type { FunctionSelector, RecordParams } from "../protocol/protocol";
import type { MeasuredWith } from "../recordings/recording-entry";
import type { RecordingItem, Session } from "../recordings/session";
import type { Status } from "../status/status-item";

/** The subject of a measurement, as messages and the list of recordings name it. */
export interface Subject {
  /** Empty: every function. */
  readonly functions: readonly FunctionSelector[];
  /** Name of the process or program. */
  readonly target: string;
}

export interface RecorderOptions {
  readonly onProgress?: (report: ProgressReport) => void;
  readonly token?: vscode.CancellationToken;
  /** Title of the progress notification. Absent: names the subject. */
  readonly title?: string;
  /** Whether the recording is a snapshot, which can be saved while it runs. */
  readonly snapshot?: boolean;
}

/** Longest time between the failure of a request and the event that the helper ended, ms. */
const longestDelay = 10_000;

interface Attempt {
  readonly repeat: () => Promise<RecordingItem>;
  failedAt?: number;
}

interface Running {
  readonly token: string;
  /** Whether data is being recorded. */
  begun: boolean;
  stopRequested: boolean;
}

/** Throws in a folder that is not trusted: there, nothing may be started or measured. */
export function requireTrust(): void {
  if (!vscode.workspace.isTrusted) {
    throw new ExtensionError("untrusted", vscode.l10n.t("Trust this folder first. Until then, you can only open recordings."));
  }
}

export class Recorder {
  #running: Running | undefined;
  #attempt: Attempt | undefined;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly status: Status,
  ) {}

  /** Measures and shows the recording. Rejects in a folder that is not trusted, and while another measurement runs. */
  async measure(params: RecordParams, subject: Subject, options: RecorderOptions = {}): Promise<RecordingItem> {
    requireTrust();
    if (this.#running !== undefined) throw new ExtensionError("not_now", vscode.l10n.t("Another measurement is running. Stop it first."), { actions: ["stop"] });
    const running: Running = { token: this.client.newProgressToken(), begun: false, stopRequested: false };
    this.#running = running;
    const attempt: Attempt = { repeat: () => this.measure(params, subject) };
    this.#attempt = attempt;
    const stopButton = this.status.showStop();
    await vscode.commands.executeCommand("setContext", "ptlens.recordingSnapshot", options.snapshot === true);
    try {
      const name = subject.functions.map((each) => each.name).join(", ") || subject.target;
      const { recording } = await withProgress(options.title ?? vscode.l10n.t("PT Lens: Measuring {0}", name), (onProgress, token) => {
        const source = new vscode.CancellationTokenSource();
        const cancel = (): void => {
          source.cancel();
        };
        token.onCancellationRequested(cancel);
        options.token?.onCancellationRequested(cancel);
        const onReport = (report: ProgressReport): void => {
          this.#noteStage(running, report);
          options.onProgress?.(report);
          onProgress(withStopLink(running, report));
        };
        return this.client.requestWithProgress("ptlens/record", params, onReport, source.token, running.token);
      });
      this.#attempt = undefined;
      return await this.session.show(recording, { ...subject, when: Date.now(), measuredWith: withoutOutput(params) });
    } catch (error) {
      if (failureOf(error).kind === "helper_ended") attempt.failedAt = Date.now();
      else this.#attempt = undefined;
      throw error;
    } finally {
      this.#running = undefined;
      stopButton.dispose();
      void vscode.commands.executeCommand("setContext", "ptlens.recordingSnapshot", false);
    }
  }

  /**
   * Returns a function that repeats the measurement which the end of the helper has just interrupted. Each interrupted
   * measurement is returned once; its request may not have failed yet.
   */
  takeInterrupted(): (() => Promise<RecordingItem>) | undefined {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    return attempt?.failedAt === undefined || Date.now() - attempt.failedAt < longestDelay ? attempt?.repeat : undefined;
  }

  /** Stops the running measurement and keeps its data. A measurement that has not begun stops when it has data. */
  async finish(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.stopRequested = true;
    if (running.begun) await this.client.request("ptlens/finish", { token: running.token });
  }

  /** Saves the contents of the trace buffers; the recording continues. */
  async saveSnapshot(): Promise<void> {
    const token = this.#running?.token;
    if (token === undefined) return;
    const { found } = await this.client.request("ptlens/snapshot", { token });
    if (found) vscode.window.setStatusBarMessage(vscode.l10n.t("PT Lens: Snapshot saved"), 3000);
  }

  #noteStage(running: Running, report: ProgressReport): void {
    if (running.begun || !isRecording(report)) return;
    running.begun = true;
    // If this fails, the request for the recording fails as well and reports it.
    if (running.stopRequested) this.finish().catch(() => undefined);
  }
}

/** Whether data is being recorded: the helper's progress message begins with the name of the stage. */
function isRecording(report: ProgressReport): report is ProgressReport & { message: string } {
  return report.message?.startsWith("recording") === true;
}

function withStopLink(running: Running, report: ProgressReport): ProgressReport {
  if (!running.begun || running.stopRequested || !isRecording(report)) return report;
  return { ...report, message: `${report.message} · [${vscode.l10n.t("Stop and Show Results")}](command:ptlens.finish)` };
}

/** The next measurement writes to a new folder. */
function withoutOutput(params: RecordParams): MeasuredWith {
  const measuredWith = { ...params };
  delete measuredWith.output;
  return measuredWith;
}
