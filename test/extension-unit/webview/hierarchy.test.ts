import { strict as assert } from "node:assert";
import type { FunctionIdentity } from "../../../extension/src/protocol/protocol";
import { maxDepth, hierarchyOf, shownName, type FlameNode } from "../../../webview/flame/hierarchy";

function identity(name: string, binary = "/bin/a"): FunctionIdentity {
  return { name, binary, address: "0x1000", file: "/src/a.cpp", line: 3 };
}

const functions = [identity("main"), identity("work"), identity("lock", "/lib/b")];

function columns(parent: number[], called: number[], inclusive: number[]): Parameters<typeof hierarchyOf>[0] {
  return {
    functions,
    nodes: { parent, function: called, inclusive, self: inclusive.map(() => 1), calls: inclusive.map(() => 2) },
  };
}

describe("hierarchyOf", () => {
  it("nests the columns", () => {
    const { root, omitted } = hierarchyOf(columns([-1, 0, 1, 1, 2], [-1, 0, 1, 2, 1], [100, 90, 50, 30, 20]));
    const shape = (node: FlameNode): unknown => [node.name, node.value, node.children.map(shape)];
    assert.deepEqual(shape(root), ["all", 100, [["main", 90, [["work", 50, [["work", 20, []]]], ["lock", 30, []]]]]]);
    assert.equal(omitted, 0);
    const [main] = root.children;
    assert.equal(root.function, undefined);
    assert.equal(main?.function?.line, 3);
    assert.equal(main.calls, 2);
  });
  it("names what a caller waited for, and whether that is inferred", () => {
    const waiting = (likely: boolean): FunctionIdentity => ({ name: "[waiting: lock]", binary: "[waiting]", address: null, file: "", line: 0, waits_for: "lock", ...(likely ? { likely } : {}) });
    const { root } = hierarchyOf({ ...columns([-1, 0, 1, 1], [-1, 0, 1, 2], [100, 100, 40, 30]), functions: [identity("main"), waiting(false), waiting(true)] });
    const leaves = root.children[0]?.children.map(({ kind, name, reason, calls }) => [kind, name, reason, calls]);
    assert.deepEqual(leaves, [["off", "lock wait", "lock", 0], ["off", "likely lock wait", "lock", 0]]);
  });
  it("takes callees that are too small for a node out of the self time, as one frame", () => {
    const graph = columns([-1, 0, 1], [-1, 0, 1], [100, 90, 50]);
    const nodes = { ...graph.nodes, self: [10, 40, 50], smaller: [4, 30, 0], smaller_nodes: [-1, 312, 0] };
    const { root } = hierarchyOf({ functions, nodes });
    const shape = (node: FlameNode): unknown => [shownName(node), node.kind, node.value, node.self, ...node.children.map(shape)];
    assert.deepEqual(shape(root), ["all", "frame", 100, 6, ["… smaller", "smaller", 4, 4], ["main", "frame", 90, 10, ["… 312 smaller", "smaller", 30, 30], ["work", "frame", 50, 50]]]);
    assert.throws(() => hierarchyOf({ functions, nodes: { ...nodes, smaller: [4] } }), /length/);
  });
  it("cuts a stack of a hundred thousand frames", () => {
    const count = 100_000;
    const chain = Array.from({ length: count }, (_, i) => i - 1);
    const { root, omitted } = hierarchyOf(columns(chain, chain.map(() => 1), chain.map(() => 1)));
    let depth = 0;
    for (let node: FlameNode | undefined = root; node !== undefined; node = node.children[0]) depth += 1;
    assert.equal(depth, maxDepth + 1);
    assert.equal(omitted, count - depth);
  });
  it("refuses columns of unequal length, orphans and an empty graph", () => {
    assert.throws(() => hierarchyOf(columns([-1, 0], [-1], [1, 1])), /length/);
    assert.throws(() => hierarchyOf(columns([-1, 5], [-1, 0], [1, 1])), /Node 1 .* no parent/);
    assert.throws(() => hierarchyOf(columns([-1, 1], [-1, 0], [1, 1])), /Node 1 .* no parent/);
    assert.throws(() => hierarchyOf(columns([], [], [])), /no root/);
  });
});
