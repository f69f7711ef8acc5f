// The recordings of this window: those that were measured or opened here, also before a reload. The panel shows the active
// one; lenses and lines also show the functions of earlier measurements (shown-recordings.ts). Another recording may be the
// baseline that the active one is compared with. A recording is open in the helper only while it is used: it is opened
// again when it is needed, also after a reload or after the helper ended.
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";
import { readSettings } from "../base/settings";
import { ExtensionError } from "../errors/failure";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { Recording } from "../protocol/protocol";
import { alsoShown } from "./shown-recordings";
import { openRecording } from "./open-recording";
import {
  defaultName,
  entryOf,
  figuresOf,
  stateFromJson,
  stateToJson,
  type SessionState,
  type RecordingEntry,
  type RecordingFacts,
} from "./recording-entry";

const stateKey = "ptlens.recordings";
/** Recordings that stay open besides the active one and the baseline, so that going back to one is immediate. */
const mostIdle = 2;
/** A recording with a larger perf.data is decoded again only if the user asks for it, bytes. */
const largestAutomatic = 64 * 1024 * 1024;

export interface RecordingItem extends RecordingEntry {
  /** Absent while it is not open in the helper. */
  readonly open?: Recording;
  /** Whether its files are gone. */
  readonly missing: boolean;
  /** The reason why it could not be opened again. */
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
  #opening: string | undefined;

  /** Fires when the active recording or the baseline changed, was opened, or was closed. */
  readonly onDidChange = this.#changed.event;
  /** Fires when a recording was added, renamed, removed, opened or closed, or became active or the baseline. */
  readonly onDidChangeList = this.#listChanged.event;

  constructor(
    private readonly client: Client,
    private readonly log: Log,
    private readonly memento: vscode.Memento,
  ) {
    const state = stateFromJson(memento.get(stateKey));
    this.#items = state.recordings.map((entry) => ({ ...entry, missing: false }));
    this.#active = state.active;
    this.#baseline = state.baseline;
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

  /** The name of the recording that is being opened or decoded. */
  get opening(): string | undefined {
    return this.#opening;
  }

  /** Opens a recording with `open`; meanwhile, the views say so. */
  async whileOpening<T>(name: string, open: () => Promise<T>): Promise<T> {
    this.#setOpening(name);
    try {
      return await open();
    } finally {
      this.#setOpening(undefined);
    }
  }

  /** The active recording if it is open now; `ready` opens it. */
  get recording(): Recording | undefined {
    return this.active?.open;
  }

  /** The baseline if it and the active recording are open now. */
  get baselineRecording(): Recording | undefined {
    return this.recording === undefined ? undefined : this.baseline?.open;
  }

  find(key: string | undefined): RecordingItem | undefined {
    return key === undefined ? undefined : this.#items.find((item) => item.key === key);
  }

  /** Returns the state that the next window of this workspace restores. */
  state(): SessionState {
    return { recordings: this.#items.map(entryOf), active: this.#active, baseline: this.#baseline };
  }

  /** Makes a recording that the helper has just opened active. It replaces an entry of the same path and process. */
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

  /** Opens a recording and makes it active, with progress: it may have to be decoded. */
  activate(key: string): Promise<Recording | undefined> {
    return this.#inTurn(async () => {
      const recording = await this.#open(key);
      this.#active = key;
      if (this.#baseline === key) this.#baseline = undefined;
      await this.#settle();
      return recording;
    });
  }

  /** Makes the open recording with this id of the helper active. Does nothing if it is active, or if there is none. */
  async activateId(id: string | undefined): Promise<void> {
    const item = this.#items.find(({ open }) => open !== undefined && open.id === id);
    if (item !== undefined && item.key !== this.#active) await this.activate(item.key);
  }

  /** Opens a recording if it is not open, without making it active. */
  opened(key: string): Promise<Recording> {
    return this.#inTurn(async () => {
      const recording = await this.#open(key);
      await this.#settle();
      return recording;
    });
  }

  /** Compares the active recording with this one; with none if the key is undefined. */
  compareWith(key: string | undefined): Promise<void> {
    return this.#inTurn(async () => {
      if (key !== undefined && key === this.#active) throw new ExtensionError("not_now", vscode.l10n.t("A recording cannot be compared with itself."));
      if (key !== undefined) await this.#open(key);
      this.#baseline = key;
      await this.#settle();
    });
  }

  /** Opens the active recording if it is not open. Returns undefined if none is active. */
  async ready(location = vscode.ProgressLocation.Notification): Promise<Recording | undefined> {
    if (this.recording !== undefined) return this.recording;
    if (this.#active === undefined) return undefined;
    return this.#inTurn(async () => {
      if (this.#active === undefined) return undefined;
      const recording = this.recording ?? (await this.#open(this.#active, location));
      await this.#openBaseline(location);
      await this.#settle();
      return recording;
    });
  }

  /**
   * As `ready`, but without a command of the user: a recording that would take long to decode stays closed until the
   * user chooses it, and one that cannot be opened stays closed with the reason.
   */
  async restore(): Promise<void> {
    const item = this.active;
    if (item === undefined || item.open !== undefined || item.problem !== undefined) return;
    if (item.missing || !(await this.#exists(item))) return;
    try {
      if (!(await this.#isQuickToOpen(item))) {
        this.#change(item.key, { problem: vscode.l10n.t("Large recording: select it to decode it again.") });
        this.#listChanged.fire();
        return;
      }
      await this.ready(vscode.ProgressLocation.Window);
    } catch (error) {
      this.#change(item.key, { problem: this.log.warn("restore the results", error) });
      this.#listChanged.fire();
    }
  }

  /** Checks which recordings still exist. */
  async check(): Promise<void> {
    await Promise.all(this.#items.map((item) => this.#exists(item)));
  }

  rename(key: string, name: string): void {
    this.#change(key, { name });
    this.#announceList();
  }

  /** Removes a recording from the list; its files stay. */
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

  /** Clears all results; the recordings stay on the list. */
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

  /** Runs one change at a time: each waits for the previous one. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #open(key: string, location = vscode.ProgressLocation.Notification): Promise<Recording> {
    const item = this.find(key);
    if (item === undefined) throw new ExtensionError("not_now", vscode.l10n.t("This recording is no longer on the list."));
    if (item.open !== undefined) return item.open;
    if (!(await this.#exists(item))) {
      throw new ExtensionError("bad_recording", vscode.l10n.t("The recording {0} no longer exists. Restore its files or remove it from the list.", item.path));
    }
    const params = { path: item.path, ...item.openedWith, source_map: readSettings().sourceMap, activate: false };
    const recording = await this.whileOpening(item.name, () => openRecording(this.client, vscode.l10n.t("PT Lens: Opening {0}", item.name), params, location));
    this.#change(key, { open: recording, problem: undefined });
    return recording;
  }

  #setOpening(name: string | undefined): void {
    this.#opening = name;
    this.#setContext();
    this.#listChanged.fire();
  }

  /** Opens the baseline. The active recording is shown even if the baseline cannot be opened. */
  async #openBaseline(location: vscode.ProgressLocation): Promise<void> {
    if (this.#baseline === undefined) return;
    try {
      await this.#open(this.#baseline, location);
    } catch (error) {
      this.log.report("open the baseline", error);
      this.#baseline = undefined;
    }
  }

  /** Opens the recordings that are shown besides the active one, if that is open. */
  async #openAlsoShown(): Promise<void> {
    if (this.recording === undefined || !this.client.isRunning) return;
    for (const item of alsoShown(this.active, this.#items)) {
      if (item.open !== undefined || item.problem !== undefined || !(await this.#exists(item))) continue;
      try {
        if (await this.#isQuickToOpen(item)) await this.#open(item.key, vscode.ProgressLocation.Window);
      } catch (error) {
        this.#change(item.key, { problem: this.log.warn("open an earlier measurement", error) });
      }
    }
  }

  async #isQuickToOpen({ path: recording, openedWith }: RecordingItem): Promise<boolean> {
    const params = { path: recording, ...openedWith, source_map: readSettings().sourceMap };
    const { cached, recording_bytes: bytes } = await this.client.request("ptlens/cache", params);
    return cached || bytes <= largestAutomatic;
  }

  /** Updates the helper, the stored state and all views after a change. */
  async #settle(): Promise<void> {
    await this.#openAlsoShown();
    const shown = this.recording === undefined ? [] : alsoShown(this.active, this.#items);
    const used = new Set([this.#active, this.#baseline, ...shown.map(({ key }) => key)]);
    const idle = this.#items.filter((item) => item.open !== undefined && !used.has(item.key));
    for (const { key, open } of idle.slice(mostIdle)) {
      this.#change(key, { open: undefined });
      if (open !== undefined) await this.#close(open.id);
    }
    if (this.client.isRunning) {
      await this.client.request("ptlens/activate", {
        id: this.recording?.id ?? "",
        baseline: this.baselineRecording?.id ?? "",
        others: shown.flatMap(({ open }) => (open === undefined ? [] : [open.id])),
      });
    }
    this.#announce();
    await this.client.refreshLenses();
  }

  async #close(id: string): Promise<void> {
    try {
      await this.client.request("ptlens/close", { id });
    } catch (error) {
      this.log.warn("close the recording", error);
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
      const { open, problem, ...entry } = item;
      const next = { open, problem, ...change };
      return {
        ...entry,
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
    void this.memento.update(stateKey, stateToJson(this.state()));
    this.#setContext();
    this.#listChanged.fire();
  }

  #setContext(): void {
    void vscode.commands.executeCommand("setContext", "ptlens.hasResults", this.active !== undefined);
    void vscode.commands.executeCommand("setContext", "ptlens.hasBaseline", this.baseline !== undefined);
    void vscode.commands.executeCommand("setContext", "ptlens.hasRecordings", this.#items.length > 0);
    void vscode.commands.executeCommand("setContext", "ptlens.canCompare", this.active !== undefined && this.#items.length > 1);
    void vscode.commands.executeCommand("setContext", "ptlens.idle", this.#opening === undefined);
    const measured = this.#items.some((item) => item.measuredWith !== undefined);
    void vscode.commands.executeCommand("setContext", "ptlens.canMeasureAgain", measured);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
    this.#listChanged.dispose();
  }
}

/** Returns the time when the recording was written, ms since 1970; undefined if it does not exist. */
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
