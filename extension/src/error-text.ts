// What the user reads when the helper's work failed: the reason, where, and what to do.
import type { ErrorData, ErrorKind } from "./protocol";
import { t } from "./words";

const kinds: readonly ErrorKind[] = [
  "bad_input",
  "not_found",
  "no_rights",
  "unsupported",
  "gone",
  "cancelled",
  "failed",
  "ambiguous",
];

/** The helper ended while a request waited; the reason is told apart, once for all of them. */
export class HelperEnded extends Error {}

export interface Failure {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly remedy: string;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** LSP's RequestCancelled. */
const requestCancelled = -32800;

function errorData(value: unknown): ErrorData | undefined {
  const kind = kinds.find((known) => known === field(value, "kind"));
  if (kind === undefined) return undefined;
  const file = field(value, "file");
  const offset = field(value, "offset");
  const remedy = field(value, "remedy");
  return {
    kind,
    file: typeof file === "string" ? file : "",
    offset: typeof offset === "number" ? offset : null,
    remedy: typeof remedy === "string" ? remedy : "",
  };
}

/** Any thrown value; the helper's errors carry `data` as in ErrorData. */
export function failureOf(error: unknown): Failure {
  const said = field(error, "message");
  let message = typeof said === "string" && said !== "" ? said : String(error);
  if (field(error, "code") === requestCancelled) return { kind: "cancelled", message, remedy: "" };
  const data = errorData(field(error, "data"));
  if (data === undefined) return { kind: "failed", message, remedy: "" };
  if (data.file !== "" && !message.includes(data.file)) {
    message += data.offset === null ? ` (${data.file})` : ` (${t("{0}, offset {1}", data.file, data.offset)})`;
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
