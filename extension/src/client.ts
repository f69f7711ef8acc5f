// The language client over `ptlens serve`: started when first needed, restarted after it died.
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  WorkDoneProgress,
  type CodeLens,
  type LanguageClientOptions,
  type Middleware,
} from "vscode-languageclient/node";
import { HelperEnded } from "./error-text";
import { findHelper, HelperUnusable, type Helper } from "./helper";
import { HelperProcess } from "./helper-process";
import { languages } from "./languages";
import { linkedCommands } from "./lens-middleware";
import type { Log } from "./log";
import { protocolVersion, type Method, type Params, type PartialParams, type PartialReport, type Result } from "./protocol";
import { readSettings } from "./settings";

/** One step of a long request: `message` of the stage, `percentage` 0 to 100 where it is known. */
export interface Step {
  readonly message?: string;
  readonly percentage?: number;
}

export class Client implements vscode.Disposable {
  readonly #started = new vscode.EventEmitter<void>();
  readonly #stopped = new vscode.EventEmitter<void>();
  readonly #partial = new vscode.EventEmitter<PartialReport | undefined>();
  #running: Promise<LanguageClient> | undefined;
  #helper: Helper | undefined;

  readonly #failed = new vscode.EventEmitter<string>();
  #process: HelperProcess | undefined;

  /** The helper ended: whatever it had open is gone. */
  readonly onDidStop = this.#stopped.event;
  /** What is known so far of the function that a request asked about; undefined: its request failed. */
  readonly onPartial = this.#partial.event;
  /** It ended by itself: why. Comes after onDidStop. */
  readonly onDidFail = this.#failed.event;
  /** It is there and answers. */
  readonly onDidStart = this.#started.event;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly log: Log,
    private readonly middleware: Middleware,
  ) {}

  /** It has been started and has not ended. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  get helper(): Helper | undefined {
    return this.#helper;
  }

  async request<M extends Method>(method: M, params: Params<M>, token?: vscode.CancellationToken): Promise<Result<M>> {
    return this.#whileItRuns((client) =>
      // An undefined token would count as a second positional parameter.
      token === undefined ? client.sendRequest<Result<M>>(method, params) : client.sendRequest<Result<M>>(method, params, token),
    );
  }

  /** A request that reports progress; `params` lacks only its workDoneToken, which is `progressToken`. */
  async requestWithProgress<M extends "ptlens/record" | "ptlens/open" | "ptlens/bundle" | "ptlens/lineTime">(
    method: M,
    params: Params<M>,
    progressToken: string,
    onStep: (step: Step) => void,
    token: vscode.CancellationToken,
  ): Promise<Result<M>> {
    return this.#whileItRuns(async (client) => {
      const listener = client.onProgress(WorkDoneProgress.type, progressToken, (value) => {
        if (value.kind !== "end") onStep(value);
      });
      const partial = client.onNotification("ptlens/partial", (known: PartialParams) => {
        if (known.token === progressToken) this.#partial.fire(known.report);
      });
      try {
        return await client.sendRequest<Result<M>>(method, { ...params, workDoneToken: progressToken }, token);
      } catch (error) {
        this.#partial.fire(undefined);
        throw error;
      } finally {
        listener.dispose();
        partial.dispose();
      }
    });
  }

  /** What fails because the helper ended is a HelperEnded, whatever the connection made of it. */
  async #whileItRuns<T>(ask: (client: LanguageClient) => Promise<T>): Promise<T> {
    const running = this.#start();
    const client = await running;
    try {
      return await ask(client);
    } catch (error) {
      // The connection closes a moment after its requests failed.
      if (isConnectionError(error)) throw new HelperEnded(vscode.l10n.t("The helper has ended."), { cause: error });
      throw error;
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

  /** Lines, 0-based, above which there are lenses with figures. */
  async lensLines(document: vscode.TextDocument): Promise<number[]> {
    const client = await this.#start();
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    const lenses = await client.sendRequest<CodeLens[] | null>("textDocument/codeLens", { textDocument });
    return (lenses ?? []).map(({ range }) => range.start.line);
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
      initializationOptions: { symfs: settings.symfs, perf: settings.perfPath, integrated: true },
      markdown: { isTrusted: { enabledCommands: linkedCommands } },
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
    const args = ["serve", "--stdio", ...(settings.debuginfod ? ["--debuginfod"] : [])];
    const launch = (): Promise<ChildProcess> => {
      this.#process = new HelperProcess(helper.path, args, (line) => {
        this.log.channel.warn(`helper: ${line}`);
      });
      return Promise.resolve(this.#process.child);
    };
    const client = new LanguageClient("ptlens", "PT Lens", launch, options);
    await client.start();
    const spoken = (client.initializeResult as { protocolVersion?: unknown } | undefined)?.protocolVersion;
    if (spoken !== protocolVersion) {
      await client.stop();
      throw new HelperUnusable(
        vscode.l10n.t(
          "The helper {0} speaks protocol {1}, this extension {2}. Install or build both of the same version.",
          helper.path,
          String(spoken),
          String(protocolVersion),
        ),
      );
    }
    this.#helper = helper;
    this.log.info(`helper ${helper.path} ${helper.version} is running`);
    this.#started.fire();
    return client;
  }

  #ended(): void {
    if (this.#running === undefined) return;
    this.#running = undefined;
    this.log.channel.warn("the helper has ended; it is started again when it is needed");
    this.#stopped.fire();
    void this.#process?.reason().then((reason) => {
      this.#failed.fire(reason);
    });
  }

  /** Ends the helper where it runs, and starts another. */
  async restart(): Promise<void> {
    await this.stop().catch((error: unknown) => this.log.note(vscode.l10n.t("stop the helper"), error));
    this.#stopped.fire();
    await this.#start();
  }

  /** Ends the helper; it finishes or abandons a recording by itself. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running !== undefined) await running.then((client) => client.stop());
  }

  dispose(): void {
    this.#started.dispose();
    this.#stopped.dispose();
    this.#partial.dispose();
    this.#failed.dispose();
  }
}

/** JSON-RPC's and LSP's own codes for a connection that is gone or cannot be written to. */
const connectionCodes = new Set<unknown>([-32099, -32098, -32097, -32096, -32095]);

function isConnectionError(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return connectionCodes.has(code) || (typeof message === "string" && /not running|connection (is|got) (closed|disposed)|EPIPE/i.test(message));
}
