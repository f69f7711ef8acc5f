// The recordings of this window: those that were measured or opened here, also before a reload. One is
// active: lenses, lines and the panel show it; another may be the baseline that it is compared with.
// A recording is open in the helper only while it is used: it is opened again when it is next asked for,
// after a reload as after the helper's end.
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import { withSteps } from "./long-work";
import type { Recording } from "./protocol";
import {
  defaultName,
  entryOf,
  figuresOf,
  memoryFromJson,
  memoryToJson,
  type Memory,
  type RecordingEntry,
  type RecordingFacts,
} from "./recording-entry";
import { readSettings } from "./settings";

const memoryKey = "ptlens.recordings";
/** Open beside the active one and the baseline, so that going back to one is immediate. */
const mostIdle = 2;
/** A recording with a larger perf.data is not decoded again unless the user asks for it, in bytes. */
const largestUnasked = 64 * 1024 * 1024;

export interface RecordingItem extends RecordingEntry {
  /** Absent: it is not open in the helper. */
  readonly open?: Recording;
  /** Its files are gone. */
  readonly missing: boolean;
  /** Why it could not be opened again. */
  readonly problem?: string;
}

type Change = Partial<Pick<RecordingItem, "name" | "missing">> & {
  open?: Recording | undefined;
  problem?: string | undefined;
};

export class Session implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #listChanged = new vscode.EventEmitter<void>();
  readonly #subscription: vscode.Disposable;
  #items: RecordingItem[];
  #active: string | undefined;
  #baseline: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** What is shown is another: the active recording or the baseline changed, was opened, or was closed. */
  readonly onDidChange = this.#changed.event;
  /** A recording was added, renamed, removed, opened, closed, made active or baseline. */
  readonly onDidChangeList = this.#listChanged.event;

  constructor(
    private readonly client: Client,
    private readonly log: Log,
    private readonly memento: vscode.Memento,
  ) {
    const memory = memoryFromJson(memento.get(memoryKey));
    this.#items = memory.recordings.map((entry) => ({ ...entry, missing: false }));
    this.#active = memory.active;
    this.#baseline = memory.baseline;
    this.#subscription = client.onDidStop(() => {
      for (const { key } of this.#items) this.#change(key, { open: undefined });
      this.#announce();
    });
    this.#setContext();
  }

  /** Newest first. */
  get recordings(): readonly RecordingItem[] {
    return this.#items;
  }

  get active(): RecordingItem | undefined {
    return this.find(this.#active);
  }

  get baseline(): RecordingItem | undefined {
    return this.find(this.#baseline);
  }

  /** The active one where it is open now; `ready` opens it. */
  get recording(): Recording | undefined {
    return this.active?.open;
  }

  /** What the active one is compared with, where both are open now. */
  get baselineRecording(): Recording | undefined {
    return this.recording === undefined ? undefined : this.baseline?.open;
  }

  find(key: string | undefined): RecordingItem | undefined {
    return key === undefined ? undefined : this.#items.find((item) => item.key === key);
  }

  /** What the next window of this workspace will know. */
  memory(): Memory {
    return { recordings: this.#items.map(entryOf), active: this.#active, baseline: this.#baseline };
  }

  /** Makes a recording that the helper has just opened the active one; the same path and process again replaces. */
  show(recording: Recording, facts: RecordingFacts = {}): Promise<RecordingItem> {
    return this.#inTurn(async () => {
      const pid = facts.openedWith?.pid;
      const same = this.#items.find((item) => item.path === recording.path && item.openedWith.pid === pid);
      const measuredWith = facts.measuredWith ?? same?.measuredWith;
      const item: RecordingItem = {
        key: same?.key ?? randomUUID(),
        path: recording.path,
        name: facts.name ?? same?.name ?? defaultName(recording.path, facts),
        functions: facts.functions ?? same?.functions ?? [],
        target: facts.target ?? same?.target ?? "",
        when: facts.when ?? same?.when ?? (await modified(recording.path)) ?? Date.now(),
        figures: figuresOf(recording),
        openedWith: facts.openedWith ?? {},
        ...(measuredWith === undefined ? {} : { measuredWith }),
        open: recording,
        missing: false,
      };
      this.#items = [item, ...this.#items.filter((other) => other !== same)].sort((a, b) => b.when - a.when);
      this.#active = item.key;
      if (this.#baseline === item.key) this.#baseline = undefined;
      if (same?.open !== undefined && same.open.id !== recording.id) await this.#close(same.open.id);
      await this.#settle();
      return item;
    });
  }

  /** Makes it the active one and opens it; with progress, as it may have to be decoded. */
  activate(key: string): Promise<Recording | undefined> {
    return this.#inTurn(async () => {
      const recording = await this.#open(key);
      this.#active = key;
      if (this.#baseline === key) this.#baseline = undefined;
      await this.#settle();
      return recording;
    });
  }

  /** Opens it where it is not, and leaves the active one as it is. */
  opened(key: string): Promise<Recording> {
    return this.#inTurn(async () => {
      const recording = await this.#open(key);
      await this.#settle();
      return recording;
    });
  }

  /** Compares the active recording with this one; undefined: with none any more. */
  compareWith(key: string | undefined): Promise<void> {
    return this.#inTurn(async () => {
      if (key !== undefined && key === this.#active) throw new Error(vscode.l10n.t("A recording cannot be compared with itself."));
      if (key !== undefined) await this.#open(key);
      this.#baseline = key;
      await this.#settle();
    });
  }

  /** The active recording, opened where it is not; nothing when none is active. */
  async ready(where = vscode.ProgressLocation.Notification): Promise<Recording | undefined> {
    if (this.recording !== undefined) return this.recording;
    if (this.#active === undefined) return undefined;
    return this.#inTurn(async () => {
      if (this.#active === undefined) return undefined;
      const recording = this.recording ?? (await this.#open(this.#active, where));
      await this.#openBaseline(where);
      await this.#settle();
      return recording;
    });
  }

  /**
   * As `ready`, at no one's command: a recording that would take long to decode is left closed until the user
   * agrees, and one that cannot be opened is left closed with its reason.
   */
  async restore(): Promise<void> {
    const item = this.active;
    if (item === undefined || item.open !== undefined || item.problem !== undefined) return;
    if (item.missing || !(await this.#exists(item))) return;
    try {
      const { cached, recording_bytes } = await this.client.request("ptlens/cache", {
        path: item.path,
        ...item.openedWith,
        source_map: readSettings().sourceMap,
      });
      if (!cached && recording_bytes > largestUnasked) {
        this.#change(item.key, { problem: vscode.l10n.t("It is large and has to be decoded again: choose it to do so.") });
        this.#listChanged.fire();
        return;
      }
      await this.ready(vscode.ProgressLocation.Window);
    } catch (error) {
      this.#change(item.key, { problem: this.log.note(vscode.l10n.t("restore the results"), error) });
      this.#listChanged.fire();
    }
  }

  /** Looks which recordings are still there. */
  async check(): Promise<void> {
    await Promise.all(this.#items.map((item) => this.#exists(item)));
  }

  rename(key: string, name: string): void {
    this.#change(key, { name });
    this.#announceList();
  }

  /** Takes it off the list; its files stay. */
  remove(key: string): Promise<void> {
    return this.#inTurn(async () => {
      const item = this.find(key);
      if (item === undefined) return;
      this.#items = this.#items.filter((other) => other.key !== key);
      if (this.#active === key) this.#active = undefined;
      if (this.#baseline === key) this.#baseline = undefined;
      if (item.open !== undefined) await this.#close(item.open.id);
      await this.#settle();
    });
  }

  /** Shows nothing any more; the recordings stay on the list. */
  clear(): Promise<void> {
    return this.#inTurn(async () => {
      this.#active = undefined;
      this.#baseline = undefined;
      for (const { key, open } of this.#items) {
        if (open === undefined) continue;
        this.#change(key, { open: undefined });
        await this.#close(open.id);
      }
      await this.#settle();
    });
  }

  /** One change at a time: each waits for the one before it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #open(key: string, where = vscode.ProgressLocation.Notification): Promise<Recording> {
    const item = this.find(key);
    if (item === undefined) throw new Error(vscode.l10n.t("This recording is not on the list any more."));
    if (item.open !== undefined) return item.open;
    if (!(await this.#exists(item))) {
      throw new Error(vscode.l10n.t("The recording {0} is not there any more. Remove it from the list, or bring it back.", item.path));
    }
    const params = { path: item.path, ...item.openedWith, source_map: readSettings().sourceMap, activate: false };
    const { recording } = await withSteps(
      vscode.l10n.t("PT Lens: opening {0}", item.name),
      (onStep, token) => this.client.requestWithProgress("ptlens/open", params, this.client.newProgressToken(), onStep, token),
      where,
    );
    this.#change(key, { open: recording, problem: undefined });
    return recording;
  }

  /** A baseline that cannot be opened must not keep the active recording from being shown. */
  async #openBaseline(where: vscode.ProgressLocation): Promise<void> {
    if (this.#baseline === undefined) return;
    try {
      await this.#open(this.#baseline, where);
    } catch (error) {
      this.log.report(vscode.l10n.t("open the baseline"), error);
      this.#baseline = undefined;
    }
  }

  /** Brings the helper, the memory and all views in step with what was decided. */
  async #settle(): Promise<void> {
    const idle = this.#items.filter((item) => item.open !== undefined && item.key !== this.#active && item.key !== this.#baseline);
    for (const { key, open } of idle.slice(mostIdle)) {
      this.#change(key, { open: undefined });
      if (open !== undefined) await this.#close(open.id);
    }
    if (this.client.isRunning) {
      await this.client.request("ptlens/activate", {
        id: this.recording?.id ?? "",
        baseline: this.baselineRecording?.id ?? "",
      });
    }
    this.#announce();
    await this.client.refreshLenses();
  }

  async #close(id: string): Promise<void> {
    try {
      await this.client.request("ptlens/close", { id });
    } catch (error) {
      this.log.note(vscode.l10n.t("close the recording"), error);
    }
  }

  async #exists(item: RecordingItem): Promise<boolean> {
    const missing = (await modified(item.path)) === undefined;
    if (missing !== item.missing) {
      this.#change(item.key, { missing });
      this.#listChanged.fire();
    }
    return !missing;
  }

  #change(key: string, change: Change): void {
    this.#items = this.#items.map((item) => {
      if (item.key !== key) return item;
      const { open, problem, ...kept } = item;
      const next = { open, problem, ...change };
      return {
        ...kept,
        ...(change.name === undefined ? {} : { name: change.name }),
        ...(change.missing === undefined ? {} : { missing: change.missing }),
        ...(next.open === undefined ? {} : { open: next.open, figures: figuresOf(next.open) }),
        ...(next.problem === undefined ? {} : { problem: next.problem }),
      };
    });
  }

  #announce(): void {
    this.#changed.fire();
    this.#announceList();
  }

  #announceList(): void {
    void this.memento.update(memoryKey, memoryToJson(this.memory()));
    this.#setContext();
    this.#listChanged.fire();
  }

  #setContext(): void {
    void vscode.commands.executeCommand("setContext", "ptlens.hasResults", this.active !== undefined);
    void vscode.commands.executeCommand("setContext", "ptlens.hasBaseline", this.baseline !== undefined);
    void vscode.commands.executeCommand("setContext", "ptlens.hasRecordings", this.#items.length > 0);
    const measured = this.#items.some((item) => item.measuredWith !== undefined);
    void vscode.commands.executeCommand("setContext", "ptlens.canMeasureAgain", measured);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
    this.#listChanged.dispose();
  }
}

/** When the recording was written, ms since 1970; nothing when it is not there. */
async function modified(recording: string): Promise<number | undefined> {
  for (const file of [path.join(recording, "perf.data"), recording]) {
    try {
      return (await stat(file)).mtimeMs;
    } catch {
      continue;
    }
  }
  return undefined;
}
