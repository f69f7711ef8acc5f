// Sums the frames of the flame graph by function.
import type { FlameNode } from "./hierarchy";

export interface Row {
  readonly name: string;
  readonly total: number;
  readonly self: number;
  readonly calls: number;
}

/** Sums the frames of each function. A frame inside one of the same function is in the outer one's total. */
export function rowsOf(root: FlameNode): Row[] {
  const rows = new Map<string, Row>();
  const visit = (node: FlameNode, above: ReadonlySet<string>): void => {
    if (node.function !== undefined || node.kind === "off" || node.kind === "lost") {
      const row = rows.get(node.key) ?? { name: node.name, total: 0, self: 0, calls: 0 };
      rows.set(node.key, { ...row, total: row.total + (above.has(node.key) ? 0 : node.value), self: row.self + node.self, calls: row.calls + node.calls });
    }
    const next = new Set(above).add(node.key);
    for (const child of node.children) visit(child, next);
  };
  visit(root, new Set());
  return [...rows.values()];
}
