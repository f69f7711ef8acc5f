import { strict as assert } from "node:assert";
import { shownName, smallerFrames, type FlameNode } from "../../../webview/flame/hierarchy";
import { rowsOf } from "../../../webview/flame/frame-rows";
import { layOut } from "../../../webview/flame/layout";
import { matcherOf, search } from "../../../webview/flame/search";
import { at, callersOf, without, withLost, withOffCpu, withoutRecursion, withoutSmall } from "../../../webview/flame/transform";

function node(name: string, value: number, ...children: FlameNode[]): FlameNode {
  const below = children.reduce((sum, child) => sum + child.value, 0);
  return {
    name, key: name, kind: "frame", value, self: value - below, off: 0, selfKnown: true, uncertainty: 0, calls: 1, children,
    function: { name, binary: "/bin/a", address: "0x10", file: "/a.cpp", line: 1 },
  };
}

const shape = ({ name, value, self, children }: FlameNode): unknown => [name, value, self, ...children.map(shape)];

describe("search in the flame graph", () => {
  // reserve_stock 30, in it std::mutex::lock 10; another lock 5 below price.
  const root = node("handle", 100, node("reserve_stock", 30, node("std::mutex::lock", 10)), node("price", 40, node("lock_stock", 5)));
  it("counts a hit inside a hit once", () => {
    const found = search(root, matcherOf("/stock|mutex/") ?? (() => false));
    assert.deepEqual(found.hits.map(({ name }) => name), ["lock_stock", "reserve_stock", "std::mutex::lock"]);
    assert.equal(found.share, 0.35, "30 + 5, not 30 + 10 + 5");
  });
  it("takes words, all of them in any order and case, or an expression", () => {
    const hits = (text: string): number => search(root, matcherOf(text) ?? (() => false)).hits.length;
    assert.equal(hits("STOCK lock"), 1);
    assert.equal(hits("lock"), 2);
    assert.equal(hits("/STOCK$/i"), 2);
    assert.equal(hits("/STOCK$/"), 0);
    assert.equal(matcherOf("/(/"), undefined, "invalid");
    assert.equal(matcherOf("/sto"), undefined, "not finished");
    assert.equal(matcherOf("  "), undefined);
  });
});

describe("changes of the flame graph", () => {
  it("adds the off-CPU time of frames and a frame for waiting", () => {
    const wall = node("handle", 100, node("audit", 60));
    const changed = withOffCpu(wall, node("handle", 65, node("audit", 50)));
    assert.equal(changed.off, 65);
    assert.deepEqual(shape(changed), ["handle", 100, 25, ["audit", 60, 10, ["off-CPU", 50, 50]], ["off-CPU", 15, 15]]);
  });
  it("merges a function that calls itself", () => {
    const tree = node("main", 100, node("f", 90, node("f", 50, node("f", 20), node("g", 10)), node("g", 30)));
    // Own times of f: 90-80, 50-30, 20; of g: 10 and 30.
    assert.deepEqual(shape(withoutRecursion(tree)), ["main", 100, 10, ["f", 90, 50, ["g", 40, 40]]]);
  });
  it("turns to the callers of a function, the innermost first", () => {
    const tree = node("main", 100, node("a", 60, node("f", 20, node("f", 5))), node("b", 30, node("f", 10)));
    assert.deepEqual(shape(callersOf(tree, "f")), ["f", 30, 0, ["a", 20, 0, ["main", 20, 20]], ["b", 10, 0, ["main", 10, 10]]]);
  });
  it("hides a frame and takes its time from its callers", () => {
    const tree = node("main", 100, node("a", 60, node("f", 20)), node("b", 30));
    assert.deepEqual(shape(without(tree, ["a", "f"])), ["main", 80, 10, ["b", 30, 30], ["a", 40, 40]]);
    assert.equal(without(tree, ["x"]), tree);
  });
  it("finds the frame in focus, or the last one on the way", () => {
    const tree = node("main", 100, node("a", 60, node("f", 20)));
    assert.equal(at(tree, ["a", "f"]).node.value, 20);
    assert.deepEqual(at(tree, ["a", "gone", "f"]).path, ["a"]);
  });
  it("puts small frames together", () => {
    const tree = node("main", 100, node("a", 90), node("b", 3), node("c", 1));
    const { children } = withoutSmall(tree, 5);
    assert.deepEqual(children.map((child) => [shownName(child), child.value]), [["a", 90], ["… 2 smaller", 4]]);
  });
  it("puts small frames with those that the helper put together", () => {
    const with_ = (frames: number | undefined): unknown => {
      const helpers = smallerFrames(frames, { value: 6, off: 1, selfKnown: true, uncertainty: 0 });
      return withoutSmall(node("main", 100, helpers, node("a", 90), node("b", 3)), 5).children.map((child) => [shownName(child), child.value, child.off]);
    };
    assert.deepEqual(with_(310), [["a", 90, 0], ["… 311 smaller", 9, 1]]);
    assert.deepEqual(with_(undefined), [["a", 90, 0], ["… smaller", 9, 1]], "the helper has not counted them");
  });
  it("keeps a tree without small frames as it is", () => {
    const helpers = smallerFrames(310, { value: 6, off: 1, selfKnown: true, uncertainty: 0 });
    const tree = node("main", 100, helpers, node("a", 90, node("f", 20)));
    assert.equal(withoutSmall(tree, 5), tree);
    assert.equal(withoutSmall(node("caller", 200, tree, node("b", 3)), 5).children[0], tree);
  });
  it("gives smaller frames the off-CPU time of callees that only the tree of off-CPU time has", () => {
    const smaller = smallerFrames(undefined, { value: 40, off: 0, selfKnown: true, uncertainty: 0 });
    const wall = node("handle", 100, node("audit", 50), smaller);
    const changed = withOffCpu(wall, node("handle", 70, node("audit", 20), node("wait", 30), smallerFrames(2, { value: 5, off: 0, selfKnown: true, uncertainty: 0 })));
    // Of 70 ns, 20 are in audit, 30 + 5 in smaller frames, and the other 15 are more than handle's own 10 ns.
    assert.deepEqual(changed.children.map(({ key, value, off }) => [key, value, off]), [["audit", 50, 20], ["smaller", 40, 35], ["off-CPU", 10, 10]]);
  });
  it("counts a function inside itself once in the table", () => {
    const rows = rowsOf(node("f", 100, node("f", 40), node("g", 10)));
    assert.deepEqual(rows, [{ name: "f", total: 100, self: 90, calls: 2 }, { name: "g", total: 10, self: 10, calls: 1 }]);
  });
  it("adds the time without a trace, of all threads, beside the stacks", () => {
    const thread = (tid: number, lost_ns: number): Parameters<typeof withLost>[1][number] => ({ pid: 1, tid, comm: "worker", trace_ns: 1000, instructions: 0, gaps: 1, lost_ns });
    const root = node("all", 100, node("handle", 100));
    const changed = withLost(root, [thread(7, 30_000_000), thread(8, 8_000_000)]);
    assert.deepEqual(changed.children.map(({ kind, name, value }) => [kind, name.replace("\u00a0", " "), value]), [["frame", "handle", 100], ["lost", "38.0 ms lost", 38_000_000]]);
    assert.equal(changed.value, 38_000_100);
    assert.equal(changed.self, 0, "lost time is no function's own");
    assert.equal(withLost(root, [thread(7, 0)]), root);
    const found = rowsOf(changed).find(({ name }) => name.includes("lost"));
    assert.ok(found !== undefined, "the table behind the graph has it");
  });
});

describe("the layout of the flame graph", () => {
  // 200 pixels for 100 ns.
  const root = node("handle", 100, node("price", 40, node("tax", 40)), node("reserve", 50, node("lock", 30)), node("log", 0.2));
  it("puts callees below their caller, the widest first, as wide as their share of the time", () => {
    const rows = layOut(root, 200).map((row) => row.map((frame) => [frame.node.name, frame.left, frame.right, frame.parent?.node.name]));
    assert.deepEqual(rows, [
      [["handle", 0, 200, undefined]],
      [["reserve", 0, 100, "handle"], ["price", 100, 180, "handle"]],
      [["lock", 0, 60, "reserve"], ["tax", 100, 180, "price"]],
    ]);
  });
  it("omits frames below half a pixel, which 0.2 ns have in 240 pixels", () => {
    const names = (width: number): string[] => layOut(root, width).flat().map((frame) => frame.node.name);
    assert.ok(!names(240).includes("log"), "0.48 pixels");
    assert.ok(names(260).includes("log"), "0.52 pixels");
  });
});
