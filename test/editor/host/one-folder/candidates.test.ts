// An ambiguous function: its candidates are offered, and the request is repeated with the chosen one.
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { failureOf } from "../../../../extension/src/errors/failure";
import { withCandidates } from "../../../../extension/src/functions/candidates";
import type { FunctionSelector } from "../../../../extension/src/protocol/protocol";
import { whileReplaced } from "../editor";

const candidates = [
  { name: "price(int)", binary: "/bin/shop", address: "0x10" },
  { name: "price(char)", binary: "/bin/shop", address: "0x20" },
];
const ambiguous = Object.assign(new Error("2 functions are named price"), {
  code: -32016,
  data: { kind: "ambiguous", file: "", offset: null, remedy: "", candidates },
});

/** Fails as the helper does unless the function has an address. Runs with a QuickPick that chooses the row `chosen`. */
async function request(chosen: number | undefined): Promise<{ offered: string[]; requested: FunctionSelector[]; error: unknown }> {
  const offered: string[] = [];
  const requested: FunctionSelector[] = [];
  const quickPick = ((items: vscode.QuickPickItem[]) => {
    offered.push(...items.map(({ label }) => label));
    return Promise.resolve(chosen === undefined ? undefined : items[chosen]);
  }) as unknown as typeof vscode.window.showQuickPick;
  let error: unknown;
  await whileReplaced(vscode.window, "showQuickPick", quickPick, async () => {
    await withCandidates({ name: "price" }, (selector) => {
      requested.push(selector);
      return selector.address === undefined ? Promise.reject(ambiguous) : Promise.resolve();
    }).catch((thrown: unknown) => {
      error = thrown;
    });
  });
  return { offered, requested, error };
}

describe("an ambiguous function", () => {
  it("is requested again with the candidate that the user chooses", async () => {
    const { offered, requested, error } = await request(1);
    assert.deepEqual(offered, ["price(int)", "price(char)"]);
    assert.deepEqual(requested, [{ name: "price" }, candidates[1]]);
    assert.equal(error, undefined);
  });

  it("is cancelled if the user chooses none", async () => {
    const { requested, error } = await request(undefined);
    assert.equal(requested.length, 1);
    assert.equal(failureOf(error).kind, "cancelled");
  });
});
