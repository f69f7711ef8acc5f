// What the user reads when the helper's work failed: the reason, where, and what to do.
import * as l10n from "@vscode/l10n";
import { asRecord } from "../base/records";
import type { ErrorData, ErrorKind } from "../protocol/protocol";

const kinds: readonly ErrorKind[] = [
  "bad_input",
  "not_found",
  "no_rights",
  "unsupported",
  "gone",
  "cancelled",
  "failed",
];

/** The helper ended while a request waited; the reason is told apart, once for all of them. */
export class HelperEnded extends Error {}

/** The helper cannot be run; the message says what to do. */
export class HelperUnusable extends Error {}

export interface Failure {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly remedy: string;
}

/** LSP's RequestCancelled. */
const requestCancelled = -32800;

function readErrorData(value: unknown): ErrorData | undefined {
  const { kind: name, file, offset, remedy } = asRecord(value);
  const kind = kinds.find((known) => known === name);
  if (kind === undefined) return undefined;
  return {
    kind,
    file: typeof file === "string" ? file : "",
    offset: typeof offset === "number" ? offset : null,
    remedy: typeof remedy === "string" ? remedy : "",
  };
}

/** Any thrown value; the helper's errors carry `data` as in ErrorData. */
export function failureOf(error: unknown): Failure {
  const { message: text, code, data: errorData } = asRecord(error);
  let message = typeof text === "string" && text !== "" ? text : String(error);
  if (code === requestCancelled) return { kind: "cancelled", message, remedy: "" };
  const data = readErrorData(errorData);
  if (data === undefined) return { kind: "failed", message, remedy: "" };
  if (data.file !== "" && !message.includes(data.file)) {
    message += data.offset === null ? ` (${data.file})` : ` (${l10n.t("{0}, offset {1}", data.file, data.offset)})`;
  }
  return { kind: data.kind, message, remedy: data.remedy };
}

/** One line with the remedy at its end. */
export function failureText(failure: Failure): string {
  const message = failure.message.trim();
  if (failure.remedy === "" || message.includes(failure.remedy)) return message;
  const stop = /[.!?]$/.test(message) ? "" : ".";
  return `${message}${stop} ${failure.remedy}`;
}
