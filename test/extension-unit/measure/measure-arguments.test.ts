import { strict as assert } from "node:assert";
import { measureArguments, parseThreshold } from "../../../extension/src/measure/measure-arguments";

describe("parseThreshold", () => {
  for (const [text, expected] of [["5 ms", 5e6], ["5ms", 5e6], ["1.5 s", 1.5e9], ["250 µs", 250e3], ["250us", 250e3], ["900 ns", 900], ["3", 3e6], ["", undefined], ["-1 ms", undefined], ["0", undefined], ["5 min", undefined]] as const) {
    it(`"${text}" is ${String(expected)} ns`, () => {
      assert.equal(parseThreshold(text), expected);
    });
  }
});

describe("measureArguments", () => {
  it("reads only fields of the right type", () => {
    assert.deepEqual(measureArguments({ pid: 4, tid: "5", function: "f", all: true, slowerThan: 1e6, other: 1 }), { pid: 4, function: "f", all: true, slowerThan: 1e6 });
    assert.deepEqual(measureArguments(undefined), {});
    assert.deepEqual(measureArguments("text"), {});
  });
});
