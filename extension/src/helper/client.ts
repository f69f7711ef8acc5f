// The language client of `ptlens serve`. It starts the helper when it is first needed, and again after it ended.
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
import type { ProgressReport } from "../base/progress";
import { readSettings } from "../base/settings";
import { ExtensionError } from "../errors/failure";
import type { Log } from "../errors/log";
import { protocolVersion, type Method, type Params, type PartialParams, type PartialReport, type Result } from "../protocol/protocol";
import { languages } from "../source/languages";
import { findHelper, type Helper } from "./find-helper";
import { HelperProcess } from "./helper-process";

/** Methods that report progress. */
type LongMethod = "ptlens/record" | "ptlens/open" | "ptlens/bundle" | "ptlens/lineTime";

/** Commands that a link in a hover may run. */
const trustedCommands = ["ptlens.showFunction", "ptlens.showFlameGraph"];

export class Client implements vscode.Disposable {
  readonly #started = new vscode.EventEmitter<void>();
  readonly #stopped = new vscode.EventEmitter<void>();
  readonly #failed = new vscode.EventEmitter<string>();
  readonly #partial = new vscode.EventEmitter<PartialReport | undefined>();
  #running: Promise<LanguageClient> | undefined;
  #helper: Helper | undefined;
  #process: HelperProcess | undefined;
  /** Cancels the request whose trace is being decoded. */
  #decoding: vscode.CancellationTokenSource | undefined;

  /** Fires when the helper has started and answers. */
  readonly onDidStart = this.#started.event;
  /** Fires when the helper ended. No recording is open then. */
  readonly onDidStop = this.#stopped.event;
  /** Fires after onDidStop with the reason if the helper ended unexpectedly. */
  readonly onDidFail = this.#failed.event;
  /** Fires with the report so far while a trace is decoded, and with undefined if the request failed. */
  readonly onPartial = this.#partial.event;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly log: Log,
    private readonly middleware: Middleware,
  ) {}

  /** Whether the helper has been started and has not ended. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  get helper(): Helper | undefined {
    return this.#helper;
  }

  async request<M extends Method>(method: M, params: Params<M>, token?: vscode.CancellationToken): Promise<Result<M>> {
    return this.#withClient((client) =>
      // An undefined token would count as a second positional parameter.
      token === undefined ? client.sendRequest<Result<M>>(method, params) : client.sendRequest<Result<M>>(method, params, token),
    );
  }

  /** Sends a request and passes its progress on. */
  async requestWithProgress<M extends LongMethod>(
    method: M,
    params: Params<M>,
    onProgress: (report: ProgressReport) => void,
    token: vscode.CancellationToken,
    progressToken = this.newProgressToken(),
  ): Promise<Result<M>> {
    return this.#withClient(async (client) => {
      const progress = client.onProgress(WorkDoneProgress.type, progressToken, (value) => {
        if (value.kind !== "end") onProgress(value);
      });
      const partial = client.onNotification("ptlens/partial", (known: PartialParams) => {
        if (known.token !== progressToken) return;
        this.#decoding = source;
        this.#partial.fire(known.report);
      });
      const source = new vscode.CancellationTokenSource();
      const cancellation = token.onCancellationRequested(() => { source.cancel(); });
      if (token.isCancellationRequested) source.cancel();
      try {
        return await client.sendRequest<Result<M>>(method, { ...params, workDoneToken: progressToken }, source.token);
      } catch (error) {
        this.#partial.fire(undefined);
        throw error;
      } finally {
        progress.dispose();
        partial.dispose();
        cancellation.dispose();
        if (this.#decoding === source) this.#decoding = undefined;
        source.dispose();
      }
    });
  }

  /** Stops decoding the trace that onPartial reports on. Its request fails as cancelled. */
  stopDecoding(): void {
    this.#decoding?.cancel();
  }

  /** Returns a token by which a running request can be named in other requests. */
  newProgressToken(): string {
    return randomUUID();
  }

  /** A request that fails because the helper ended throws an error of kind "helper_ended". */
  async #withClient<T>(send: (client: LanguageClient) => Promise<T>): Promise<T> {
    const client = await this.#start();
    try {
      return await send(client);
    } catch (error) {
      if (isConnectionError(error)) throw new ExtensionError("helper_ended", vscode.l10n.t("The helper has ended."), { cause: error });
      throw error;
    }
  }

  /** Requests the code lenses of every visible editor again. */
  async refreshLenses(): Promise<void> {
    if (this.#running === undefined) return;
    const client = await this.#running;
    const feature = client.getFeature("textDocument/codeLens");
    for (const editor of vscode.window.visibleTextEditors) {
      feature.getProvider(editor.document)?.onDidChangeCodeLensEmitter.fire();
    }
  }

  /** Returns the 0-based lines that have a code lens with figures. */
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
      markdown: { isTrusted: { enabledCommands: trustedCommands } },
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
    const { protocolVersion: version } = (client.initializeResult ?? {}) as { protocolVersion?: unknown };
    if (version !== protocolVersion) {
      await client.stop();
      const message = vscode.l10n.t(
        "The helper {0} uses protocol version {1}, and this extension uses version {2}. Install or build both from the same version.",
        helper.path,
        String(version),
        String(protocolVersion),
      );
      throw new ExtensionError("helper_unusable", message);
    }
    this.#helper = helper;
    this.log.info(`helper ${helper.path} ${helper.version} is running`);
    this.#started.fire();
    return client;
  }

  #ended(): void {
    if (this.#running === undefined) return;
    this.#running = undefined;
    this.log.channel.warn("the helper has ended; the next request starts it again");
    this.#stopped.fire();
    void this.#process?.exitReason().then((reason) => {
      this.#failed.fire(reason);
    });
  }

  /** Stops the helper if it runs, and starts it again. */
  async restart(): Promise<void> {
    await this.stop().catch((error: unknown) => this.log.warn("stop the helper", error));
    this.#stopped.fire();
    await this.#start();
  }

  /** Stops the helper, which finishes or abandons a running recording by itself. */
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

/** Codes of JSON-RPC and LSP for a connection that is closed or cannot be written to. */
const connectionCodes = new Set<unknown>([-32099, -32098, -32097, -32096, -32095]);

function isConnectionError(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return connectionCodes.has(code) || (typeof message === "string" && /not running|connection (is|got) (closed|disposed)|EPIPE/i.test(message));
}
