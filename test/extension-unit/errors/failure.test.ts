import { strict as assert } from "node:assert";
import { ExtensionError, failureOf, failureText } from "../../../extension/src/errors/failure";

function rpcError(message: string, code: number, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

describe("failureOf", () => {
  it("names the file, the offset and the remedy", () => {
    const data = { kind: "bad_input", file: "/r/perf.data", offset: 104, remedy: "Record it again." };
    assert.equal(
      failureText(failureOf(rpcError("the header ends early", -32010, data))),
      "the header ends early (/r/perf.data, offset 104). Record it again.",
    );
  });
  it("does not repeat what the message contains", () => {
    const data = { kind: "gone", file: "/r/perf.data", offset: null, remedy: "Choose another." };
    assert.equal(
      failureText(failureOf(rpcError("/r/perf.data: no such file. Choose another.", -32014, data))),
      "/r/perf.data: no such file. Choose another.",
    );
  });
  it("recognizes a cancellation by the code of LSP", () => {
    assert.equal(failureOf(rpcError("cancelled", -32800)).kind, "cancelled");
  });
  it("recognizes the errors of the extension, and requests that the helper does not understand", () => {
    assert.equal(failureOf(new ExtensionError("untrusted", "trust it")).kind, "untrusted");
    assert.equal(failureOf(rpcError("pid must be a number", -32602, { path: "pid" })).kind, "bad_request");
  });
  it("reads the candidates of an ambiguous name", () => {
    const candidates = [
      { name: "price(int)", binary: "/bin/shop", address: "0x10" },
      { name: "price(char)", binary: "/bin/shop", address: null },
    ];
    const data = { kind: "ambiguous", file: "", offset: null, remedy: "", candidates: [...candidates, { name: 3 }, null] };
    assert.deepEqual(failureOf(rpcError("2 functions are named price", -32016, data)).candidates, candidates);
  });
  it("accepts any thrown value and any data", () => {
    assert.equal(failureOf("boom").message, "boom");
    assert.equal(failureOf(undefined).kind, "failed");
    assert.deepEqual(failureOf(rpcError("odd", -1, { kind: "bad_input", file: 7, offset: "x", candidates: "y" })), {
      kind: "bad_input",
      message: "odd",
      remedy: "",
      candidates: [],
    });
    assert.equal(failureOf(rpcError("odd", -1, { kind: "another" })).kind, "failed");
    assert.equal(failureOf(rpcError("odd", -1, { kind: "toString" })).kind, "failed");
  });
});
