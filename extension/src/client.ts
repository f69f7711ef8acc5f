// The language client over `ptlens serve`: started when first needed, restarted after it died.
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  WorkDoneProgress,
  type LanguageClientOptions,
  type Middleware,
} from "vscode-languageclient/node";
import { findHelper, HelperUnusable, type Helper } from "./helper";
import { languages } from "./languages";
import type { Log } from "./log";
import { protocolVersion, type Method, type Params, type Result } from "./protocol";
import { readSettings } from "./settings";

/** One step of a long request: `message` of the stage, `percentage` 0 to 100 where it is known. */
export interface Step {
  readonly message?: string;
  readonly percentage?: number;
}

export class Client implements vscode.Disposable {
  readonly #stopped = new vscode.EventEmitter<void>();
  #running: Promise<LanguageClient> | undefined;
  #helper: Helper | undefined;

  /** The helper ended: whatever it had open is gone. */
  readonly onDidStop = this.#stopped.event;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly log: Log,
    private readonly middleware: Middleware,
  ) {}

  get helper(): Helper | undefined {
    return this.#helper;
  }

  async request<M extends Method>(method: M, params: Params<M>, token?: vscode.CancellationToken): Promise<Result<M>> {
    const client = await this.#start();
    // An undefined token would count as a second positional parameter.
    return token === undefined ? client.sendRequest<Result<M>>(method, params) : client.sendRequest<Result<M>>(method, params, token);
  }

  /** A request that reports progress; `params` lacks only its workDoneToken, which is `progressToken`. */
  async requestWithProgress<M extends "ptlens/record" | "ptlens/open">(
    method: M,
    params: Params<M>,
    progressToken: string,
    onStep: (step: Step) => void,
    token: vscode.CancellationToken,
  ): Promise<Result<M>> {
    const client = await this.#start();
    const listener = client.onProgress(WorkDoneProgress.type, progressToken, (value) => {
      if (value.kind !== "end") onStep(value);
    });
    try {
      return await client.sendRequest<Result<M>>(method, { ...params, workDoneToken: progressToken }, token);
    } finally {
      listener.dispose();
    }
  }

  newProgressToken(): string {
    return randomUUID();
  }

  /** Asks for the code lenses of every editor anew. */
  async refreshLenses(): Promise<void> {
    if (this.#running === undefined) return;
    const client = await this.#running;
    const feature = client.getFeature("textDocument/codeLens");
    for (const editor of vscode.window.visibleTextEditors) {
      feature.getProvider(editor.document)?.onDidChangeCodeLensEmitter.fire();
    }
  }

  #start(): Promise<LanguageClient> {
    this.#running ??= this.#launch().catch((error: unknown) => {
      this.#running = undefined;
      throw error;
    });
    return this.#running;
  }

  async #launch(): Promise<LanguageClient> {
    const helper = await findHelper(this.extension);
    const settings = readSettings();
    const options: LanguageClientOptions = {
      documentSelector: languages.map((language) => ({ scheme: "file", language })),
      initializationOptions: { symfs: settings.symfs, perf: settings.perfPath },
      outputChannel: this.log.channel,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: this.middleware,
      connectionOptions: { maxRestartCount: 0 },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.#ended();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
    const client = new LanguageClient("ptlens", "PT Lens", { command: helper.path, args: ["serve", "--stdio", ...(readSettings().debuginfod ? ["--debuginfod"] : [])] }, options);
    await client.start();
    const spoken = (client.initializeResult as { protocolVersion?: unknown } | undefined)?.protocolVersion;
    if (spoken !== protocolVersion) {
      await client.stop();
      throw new HelperUnusable(
        `The helper ${helper.path} speaks protocol ${String(spoken)}, this extension ${String(protocolVersion)}. ` +
          "Build both from the same version.",
      );
    }
    this.#helper = helper;
    this.log.info(`helper ${helper.path} ${helper.version} is running`);
    return client;
  }

  #ended(): void {
    if (this.#running === undefined) return;
    this.#running = undefined;
    this.log.channel.warn("the helper has ended; it is started again when it is needed");
    this.#stopped.fire();
  }

  /** Ends the helper; it finishes or abandons a recording by itself. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running !== undefined) await running.then((client) => client.stop());
  }

  dispose(): void {
    this.#stopped.dispose();
  }
}
