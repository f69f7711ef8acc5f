// How a function is identified: by its binary and address where the address is known, else by its name.
import * as l10n from "@vscode/l10n";
import { asRecord } from "../base/records";
import type { FunctionSelector } from "../protocol/protocol";

/** A function as any result of the helper names it. */
export interface FunctionRef {
  readonly name: string;
  readonly binary: string;
  readonly address: string | null;
}

/** Returns the parameter by which a request names this function. */
export function selectorOf({ name, binary, address }: FunctionRef): FunctionSelector {
  return { name, binary, ...(address === null ? {} : { address }) };
}

/** Returns a key that is unique among the functions of a recording; names alone are not. */
export function functionKey({ binary, address, name }: FunctionRef): string {
  return `${binary} ${address ?? name}`;
}

/** Reads the function that a command was given. Throws without a name. */
export function functionRef(argument: unknown, command: string): FunctionRef {
  const { name, binary, address } = asRecord(argument);
  if (typeof name !== "string") throw new Error(l10n.t("The command {0} needs the name of a function.", command));
  return {
    name,
    binary: typeof binary === "string" ? binary : "",
    address: typeof address === "string" ? address : null,
  };
}
