// Search in the flame graph: words that must all be in a name, or a regular expression between slashes.
import type { FlameNode } from "./hierarchy";

export type Matcher = (name: string) => boolean;

/** Returns what a search text matches; undefined: no text, or an invalid expression. */
export function matcherOf(text: string): Matcher | undefined {
  const expression = /^\/(.+)\/(i?)$/.exec(text.trim());
  if (expression !== null) {
    try {
      const pattern = new RegExp(expression[1] ?? "", expression[2]);
      return (name) => pattern.test(name);
    } catch {
      return undefined;
    }
  }
  if (text.trim().startsWith("/")) return undefined; // not finished
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return undefined;
  return (name) => {
    const lower = name.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}

export interface Found {
  /** In the order of drawing: from the top, widest first. */
  readonly hits: readonly FlameNode[];
  /** Time of the hits as a share of the root; a hit inside a hit counts once. */
  readonly share: number;
}

export function search(root: FlameNode, matches: Matcher): Found {
  const hits: FlameNode[] = [];
  let time = 0;
  const visit = (node: FlameNode, inHit: boolean): void => {
    const isHit = node.kind === "frame" && node.function !== undefined && matches(node.name);
    if (isHit) hits.push(node);
    if (isHit && !inHit) time += node.value;
    for (const child of [...node.children].sort((a, b) => b.value - a.value)) visit(child, inHit || isHit);
  };
  visit(root, false);
  return { hits, share: root.value > 0 ? time / root.value : 0 };
}
