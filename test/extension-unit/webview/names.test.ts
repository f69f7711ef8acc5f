import { strict as assert } from "node:assert";
import { foldName, shortName, withoutParameters } from "../../../webview/base/names";
import { edgeAfter, limitsAround, ticks125 } from "../../../webview/overview/axis";
import { hasTail, shortAnswer } from "../../../webview/state/answer-text";

const folded = (name: string, others: string[] = []): string => foldName(name, others).map((part) => (typeof part === "string" ? part : `[${String(part.folded)}]`)).join("");

describe("names of functions", () => {
  it("drops parameters", () => {
    assert.equal(withoutParameters("shop::handle_order(shop::Order const&)"), "shop::handle_order");
    assert.equal(withoutParameters("step"), "step");
    assert.equal(withoutParameters("a::f<int (*)(char)>(long) const"), "a::f<int (*)(char)>");
    assert.equal(withoutParameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
    assert.equal(withoutParameters("main.(*Cart).Add"), "main.(*Cart).Add");
  });
  it("takes the last component", () => {
    assert.equal(shortName("shop::write_audit()"), "write_audit");
    assert.equal(shortName("a::b<c::d>::e<f::g>(h::i)"), "e<f::g>");
    assert.equal(shortName("[outside user code]"), "[outside user code]");
  });
  it("folds template arguments in the middle", () => {
    const name = "shop::handle_order<shop::RetailPolicy, shop::rules::AgeLimit, shop::rules::StockLimit, shop::tax::EuroVat>";
    assert.equal(folded(name), "shop::handle_order<shop::RetailPolicy, [2], shop::tax::EuroVat>");
    assert.equal(folded("f<int, long, char>"), "f<int, long, char>", "short");
  });
  it("keeps the arguments in which instances differ", () => {
    const of = (limit: string): string => `shop::handle_order<shop::RetailPolicy, shop::rules::AgeLimit, ${limit}, shop::tax::EuroVat>`;
    assert.equal(folded(of("shop::StockLimit"), [of("shop::StockLimit"), of("shop::NoLimit")]), "shop::handle_order<shop::RetailPolicy, [1], shop::StockLimit, shop::tax::EuroVat>");
  });
});

describe("axes", () => {
  it("has ticks at 1, 2 and 5", () => {
    assert.deepEqual(ticks125(10_000, 200_000), [10_000, 20_000, 50_000, 100_000, 200_000]);
    assert.deepEqual(ticks125(1_000, 20_000, [1]), [1_000, 10_000]);
  });
  it("begins and ends at a tick", () => {
    assert.deepEqual(limitsAround(17_200, 5_680_000), [10_000, 10_000_000]);
    assert.deepEqual(limitsAround(0, 0), [0.5, 2]);
  });
  it("moves a limit from edge to edge of the bins", () => {
    const edges = [10, 20, 40, 80];
    assert.equal(edgeAfter(edges, 20, 1), 40);
    assert.equal(edgeAfter(edges, 20, -1), 10);
    assert.equal(edgeAfter(edges, 25, 1), 40);
    assert.equal(edgeAfter(edges, 25, -1), 20);
    assert.equal(edgeAfter(edges, 20, 10), 80);
    assert.equal(edgeAfter(edges, 10, -1), 10);
  });
});

describe("the answer without reasons", () => {
  const latency = (p50: number, p99: number) => ({ mean: 0, stddev: 0, min: 0, max: 0, p50, p90: 0, p99, p999: 0, total: 0, resolution: 0 });
  const calls = (complete: number) => ({ complete, incomplete: 0, unwound: 0 });
  const text = (report: Parameters<typeof shortAnswer>[0]): string => shortAnswer(report).replaceAll("\u00a0", " ");
  it("says what is typical and how long the tail is", () => {
    assert.equal(text({ latency: latency(31_500, 3_500_000), calls: calls(1_614) }), "Typically 31.5 µs; 1 call in 100 takes over 3.50 ms.");
    assert.equal(text({ latency: latency(31_500, 44_000), calls: calls(1_614) }), "Typically 31.5 µs, and steady: 1 call in 100 takes over 44.0 µs.");
    assert.equal(text({ latency: latency(31_500, 3_500_000), calls: calls(16) }), "16 calls: too few to say what is typical.");
  });
  it("asks why only where there is a tail", () => {
    assert.equal(hasTail({ latency: latency(31_500, 3_500_000), calls: calls(1_614) }), true);
    assert.equal(hasTail({ latency: latency(31_500, 44_000), calls: calls(1_614) }), false);
    assert.equal(hasTail({ latency: latency(31_500, 3_500_000), calls: calls(16) }), false);
  });
});
