// How a function is identified: by its binary and address where the address is known, else by its name. With the
// binary's build-id, the helper uses the address only in that build, and finds the function in another build by its names
// and its place in the source.
import * as l10n from "@vscode/l10n";
import { asRecord } from "../base/records";
import type { FunctionSelector } from "../protocol/protocol";

/** A function as any result of the helper names it. */
export interface FunctionRef {
  readonly name: string;
  readonly binary: string;
  readonly address: string | null;
  readonly file?: string;
  /** 1-based; 0 if it is unknown. */
  readonly line?: number;
  readonly linkage_name?: string;
  readonly build_id?: string;
}

/** Fields that identify a function in another build. */
const acrossBuilds = ["file", "line", "linkage_name", "build_id"] as const;

/** Returns the parameter by which a request names this function. */
export function selectorOf(ref: FunctionRef): FunctionSelector {
  const { name, binary, address } = ref;
  // Without the build-id, the other fields have no use: the address decides.
  const known = ref.build_id === undefined || ref.build_id === "" ? [] : acrossBuilds.filter((field) => ref[field] !== undefined && ref[field] !== "");
  return { name, binary, ...(address === null ? {} : { address }), ...Object.fromEntries(known.map((field) => [field, ref[field]])) };
}

/** Returns a key that is unique among the functions of a recording; names alone are not. */
export function functionKey({ binary, address, name }: FunctionRef): string {
  return `${binary} ${address ?? name}`;
}

/** Reads the function that a command was given. Throws without a name. */
export function functionRef(argument: unknown, command: string): FunctionRef {
  const { name, binary, address, file, line, linkage_name: linkageName, build_id: buildId } = asRecord(argument);
  if (typeof name !== "string") throw new Error(l10n.t("The command {0} needs the name of a function.", command));
  return {
    name,
    binary: typeof binary === "string" ? binary : "",
    address: typeof address === "string" ? address : null,
    ...(typeof file === "string" ? { file } : {}),
    ...(typeof line === "number" ? { line } : {}),
    ...(typeof linkageName === "string" ? { linkage_name: linkageName } : {}),
    ...(typeof buildId === "string" ? { build_id: buildId } : {}),
  };
}
