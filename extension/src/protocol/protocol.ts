// The types of the helper's methods, generated from protocol.schema.json.
import type { Protocol } from "./protocol.generated";

export type * from "./protocol.generated";

/** Requests to the helper; ptlens/partial is a notification from it. */
export type Method = Exclude<Extract<keyof Protocol, `ptlens/${string}`>, "ptlens/partial">;
export type Params<M extends Method> = Protocol[M]["params"];
export type Result<M extends Method> = Protocol[M]["result"];

/** The `protocolVersion` that this extension expects in the result of initialize. */
export const protocolVersion: Protocol["initialize"]["result"]["protocolVersion"] = 1;
