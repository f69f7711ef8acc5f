// The helper's own methods as types. The wire types are generated from protocol.schema.json.
import type { Protocol } from "./protocol.generated";

export type * from "./protocol.generated";

/** Methods under ptlens/, client to helper; ptlens/partial goes the other way. */
export type Method = Exclude<Extract<keyof Protocol, `ptlens/${string}`>, "ptlens/partial">;
export type Params<M extends Method> = Protocol[M]["params"];
export type Result<M extends Method> = Protocol[M]["result"];

/** The `protocolVersion` of initialize that this extension speaks. */
export const protocolVersion: Protocol["initialize"]["result"]["protocolVersion"] = 1;
