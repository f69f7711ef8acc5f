import { strict as assert } from "node:assert";
import { failureOf, failureText } from "../../../extension/src/errors/failure";

function rpcError(message: string, code: number, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

describe("failureOf", () => {
  it("says file, offset and remedy", () => {
    const data = { kind: "bad_input", file: "/r/perf.data", offset: 104, remedy: "Record it again." };
    assert.equal(
      failureText(failureOf(rpcError("the header ends early", -32010, data))),
      "the header ends early (/r/perf.data, offset 104). Record it again.",
    );
  });
  it("does not repeat what the message says already", () => {
    const data = { kind: "gone", file: "/r/perf.data", offset: null, remedy: "Choose another." };
    assert.equal(
      failureText(failureOf(rpcError("/r/perf.data: no such file. Choose another.", -32014, data))),
      "/r/perf.data: no such file. Choose another.",
    );
  });
  it("knows the user's own cancellation by LSP's code", () => {
    assert.equal(failureOf(rpcError("cancelled", -32800)).kind, "cancelled");
  });
  it("takes any thrown value and any data", () => {
    assert.equal(failureOf("boom").message, "boom");
    assert.equal(failureOf(undefined).kind, "failed");
    assert.deepEqual(failureOf(rpcError("odd", -1, { kind: "bad_input", file: 7, offset: "x" })), {
      kind: "bad_input",
      message: "odd",
      remedy: "",
    });
    assert.equal(failureOf(rpcError("odd", -1, { kind: "unheard of" })).kind, "failed");
  });
});
