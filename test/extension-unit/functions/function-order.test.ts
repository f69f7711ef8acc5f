import { strict as assert } from "node:assert";
import { ordered, type Order } from "../../../extension/src/functions/function-order";
import { functionKey } from "../../../extension/src/functions/function-selector";
import type { FunctionSummary } from "../../../extension/src/protocol/protocol";

function row(name: string, inclusive: number, mean: number, complete: number): FunctionSummary {
  return { name, binary: "/bin/app", address: null, file: "", line: 0, complete, incomplete: 0, unwound: 0, mean, inclusive, self: 0, off_cpu: 0 };
}

const rows = [row("ns::beta", 300, 3, 100), row("alpha", 200, 50, 4), row("gamma", 100, 10, 10)];
const p99 = new Map([
  [functionKey(rows[0] ?? assert.fail()), { p99: 9 }],
  [functionKey(rows[2] ?? assert.fail()), { p99: 80 }],
]);

describe("the order of functions", () => {
  const names = (order: Order, filter = ""): string[] => ordered(rows, order, filter, p99).map(({ name }) => name);
  const expected: Record<Order, string[]> = {
    total: ["ns::beta", "alpha", "gamma"],
    mean: ["alpha", "gamma", "ns::beta"],
    p99: ["gamma", "ns::beta", "alpha"],
    calls: ["ns::beta", "gamma", "alpha"],
    name: ["alpha", "gamma", "ns::beta"],
  };
  for (const order of Object.keys(expected) as Order[]) {
    it(`by ${order}`, () => {
      assert.deepEqual(names(order), expected[order]);
    });
  }
  it("contains the functions whose name contains every word, in any case", () => {
    assert.deepEqual(names("name", "A  mm"), ["gamma"]);
    assert.deepEqual(names("name", "BETA ns"), ["ns::beta"]);
    assert.deepEqual(names("name", "delta"), []);
  });
  it("does not change the given list", () => {
    assert.equal(rows[0]?.name, "ns::beta");
  });
});
