// Describes failures: the kind, the reason, the file and the remedy.
import * as l10n from "@vscode/l10n";
import { asRecord } from "../base/records";
import type { ErrorData, ErrorKind } from "../protocol/protocol";

/** The helper's kinds, and the extension's own. */
export type FailureKind =
  | ErrorKind
  /** The recording itself cannot be opened. */
  | "bad_recording"
  /** The helper ended while a request waited. */
  | "helper_ended"
  /** The helper cannot be started. */
  | "helper_unusable"
  /** A request that the helper does not understand: a defect of PT Lens, or a wrong argument of a command. */
  | "bad_request"
  /** The folder is not trusted. */
  | "untrusted"
  /** A command that cannot run now; its message says why. */
  | "not_now";

/** Actions that a message offers as buttons. */
export type ErrorButton =
  | "checkMachine"
  | "chooseProcess"
  | "grantPermissions"
  | "manageTrust"
  | "measure"
  | "openRecording"
  | "openSettings"
  | "restartHelper"
  | "showActions"
  | "stop"
  /** Runs the failed command again. */
  | "tryAgain";

/** `chooseFunction` needs no button: the candidates are shown at once (see functions/candidates.ts). */
export type ErrorAction = ErrorButton | "chooseFunction";

/** A function that an ambiguous name may mean. */
export type Candidate = NonNullable<ErrorData["candidates"]>[number];

/** An error with a kind, raised by the extension. Its message is a translated sentence for the user. */
export class ExtensionError extends Error {
  /** Actions that its message offers. Absent: those of the kind. */
  readonly actions: readonly ErrorAction[] | undefined;

  constructor(
    readonly kind: FailureKind,
    message: string,
    options?: ErrorOptions & { readonly actions?: readonly ErrorAction[] },
  ) {
    super(message, options);
    this.actions = options?.actions;
  }
}

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  readonly remedy: string;
  /** Empty unless the kind is "ambiguous". */
  readonly candidates: readonly Candidate[];
  /** Absent: the kind decides. */
  readonly actions?: readonly ErrorAction[];
}

/** A record, so that the compiler notices a kind that the protocol adds. */
const helperKinds: Readonly<Record<ErrorKind, true>> = {
  ambiguous: true,
  bad_input: true,
  not_found: true,
  no_rights: true,
  unsupported: true,
  gone: true,
  cancelled: true,
  failed: true,
};

function isHelperKind(value: unknown): value is ErrorKind {
  return typeof value === "string" && Object.hasOwn(helperKinds, value);
}

/** RequestCancelled of LSP. */
const requestCancelled = -32800;
/** InvalidRequest, MethodNotFound and InvalidParams of JSON-RPC. */
const badRequests: ReadonlySet<unknown> = new Set([-32600, -32601, -32602]);

/** Describes any thrown value. Errors of the helper carry `data` as in ErrorData. */
export function failureOf(error: unknown): Failure {
  const { message: text, code, data } = asRecord(error);
  const message = typeof text === "string" && text !== "" ? text : String(error);
  const failure = { message, remedy: "", candidates: [] };
  if (error instanceof ExtensionError) {
    return { ...failure, kind: error.kind, ...(error.actions === undefined ? {} : { actions: error.actions }) };
  }
  if (code === requestCancelled) return { ...failure, kind: "cancelled" };
  const { kind, file, offset, remedy, candidates } = asRecord(data);
  if (!isHelperKind(kind)) return { ...failure, kind: badRequests.has(code) ? "bad_request" : "failed" };
  return {
    kind,
    message: withPosition(message, file, offset),
    remedy: typeof remedy === "string" ? remedy : "",
    candidates: Array.isArray(candidates) ? candidates.flatMap(candidateOf) : [],
  };
}

function withPosition(message: string, file: unknown, offset: unknown): string {
  if (typeof file !== "string" || file === "" || message.includes(file)) return message;
  return `${message} (${typeof offset === "number" ? l10n.t("{0}, offset {1}", file, offset) : file})`;
}

function candidateOf(value: unknown): Candidate[] {
  const { name, binary, address } = asRecord(value);
  if (typeof name !== "string" || typeof binary !== "string") return [];
  return [{ name, binary, address: typeof address === "string" ? address : null }];
}

/** Returns the failure as one line that ends with the remedy. */
export function failureText({ message: text, remedy }: Failure): string {
  const message = text.trim();
  if (remedy === "" || message.includes(remedy)) return message;
  const stop = /[.!?]$/.test(message) ? "" : ".";
  return `${message}${stop} ${remedy}`;
}
