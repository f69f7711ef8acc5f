// Colors of frames: the hue shows the binary (the one with the most time is warm), the shade the function.
import type { FlameNode } from "./hierarchy";

const hues = [28, 205, 150, 265, 180, 320, 95];

/** FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return value;
}

/** Returns the binaries by their self time, most first. */
function binariesBySelf(root: FlameNode): string[] {
  const self = new Map<string, number>();
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const binary = node.function?.binary;
    if (binary !== undefined) self.set(binary, (self.get(binary) ?? 0) + node.self);
    pending.push(...node.children);
  }
  return [...self].sort(([, a], [, b]) => b - a).map(([binary]) => binary);
}

/** Returns a function that maps a node of this tree to its CSS color. All colors are light enough for black text. */
export function frameColors(root: FlameNode): (node: FlameNode) => string {
  const order = new Map(binariesBySelf(root).map((binary, index) => [binary, index]));
  return (node) => {
    if (node.function === undefined) return "hsl(0 0% 72%)";
    const index = order.get(node.function.binary) ?? 0;
    const shade = hash(node.name);
    const hue = (hues[index % hues.length] ?? 28) + (shade % 25) - 12;
    const lightness = 62 + ((shade >>> 8) % 13);
    return `hsl(${String(hue)} 78% ${String(lightness)}%)`;
  };
}
