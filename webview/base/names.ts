// Shortens names of functions: without parameters, and with long template arguments folded.

/** Returns the last component of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

const opening = "<([{";
const closing = ">)]}";

/** Whether the character belongs to the name of an operator: "operator<". */
const isOfOperator = (text: string, index: number): boolean => /operator\s*[<>=()-]*$/.test(text.slice(Math.max(0, index - 12), index));

/** Calls `visit` with each character outside of all brackets, and those that open or close the outermost ones. */
function walk(text: string, visit: (index: number, character: string, depth: number) => void): void {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? "";
    if (opening.includes(character) && !isOfOperator(text, index)) {
      visit(index, character, depth);
      depth += 1;
    } else if (closing.includes(character) && text[index - 1] !== "-" && !isOfOperator(text, index)) {
      depth = Math.max(0, depth - 1);
      visit(index, character, depth);
    } else {
      visit(index, character, depth);
    }
  }
}

/** "shop::handle_order<A>(shop::Order const&)" → "shop::handle_order<A>". */
export function withoutParameters(name: string): string {
  let end = name.length;
  let start = -1;
  walk(name, (index, character, depth) => {
    if (depth !== 0) return;
    if (character === "(" && !name.startsWith("(anonymous namespace)", index)) start = index;
    else if (character === ")" && start > 0) {
      const rest = name.slice(index + 1).trim();
      if (/^(const|volatile|&|&&|noexcept|\[clone .*\]|\s)*$/.test(rest)) end = start;
    }
  });
  return name.slice(0, end);
}

const shortNames = new Map<string, string>();
const mostShortNames = 10_000;

/** The last component of a qualified name without parameters: "write_audit". Remembers the names that it shortened. */
export function shortName(name: string): string {
  const known = shortNames.get(name);
  if (known !== undefined) return known;
  const text = withoutParameters(name);
  let from = 0;
  walk(text, (index, character, depth) => {
    if (depth === 0 && character === ":" && text[index + 1] === ":") from = index + 2;
  });
  const short = text.slice(from);
  if (shortNames.size >= mostShortNames) shortNames.clear();
  shortNames.set(name, short);
  return short;
}

/** The arguments of the last template list of a name, and where the list begins and ends. */
function argumentsOf(name: string): { readonly start: number; readonly end: number; readonly list: readonly string[] } | undefined {
  let start = -1;
  let end = -1;
  let commas: number[] = [];
  walk(name, (index, character, depth) => {
    if (depth === 0 && character === "<") [start, end, commas] = [index, -1, []];
    else if (depth === 0 && character === ">") end = index;
    else if (depth === 1 && character === "," && start >= 0 && end < 0) commas.push(index);
  });
  if (start < 0 || end < 0) return undefined;
  const edges = [start, ...commas, end];
  return { start, end, list: edges.slice(1).map((edge, index) => name.slice((edges[index] ?? 0) + 1, edge).trim()) };
}

/** A part of a folded name: text, or how many arguments are folded. */
export type NamePart = string | { readonly folded: number; readonly text: string };

/** Template lists of more than this many characters are folded. */
const longest = 40;

/**
 * Folds the template arguments of a long name. The first and the last argument stay, and those in which the name differs
 * from `others`, the other instances of the template.
 */
export function foldName(name: string, others: readonly string[] = []): NamePart[] {
  const found = argumentsOf(name);
  if (found === undefined || found.list.length < 3 || found.end - found.start < longest) return [name];
  const lists = others.filter((other) => other !== name).map((other) => argumentsOf(other)?.list ?? []);
  const isKept = (index: number): boolean =>
    index === 0 || index === found.list.length - 1 || lists.some((list) => list.length === found.list.length && list[index] !== found.list[index]);
  const parts: NamePart[] = [name.slice(0, found.start + 1)];
  let folded: string[] = [];
  const close = (): void => {
    if (folded.length > 0) parts.push({ folded: folded.length, text: folded.join(", ") }, ", ");
    folded = [];
  };
  found.list.forEach((argument, index) => {
    if (!isKept(index)) {
      folded.push(argument);
      return;
    }
    close();
    parts.push(index === found.list.length - 1 ? argument : `${argument}, `);
  });
  parts.push(name.slice(found.end));
  return parts;
}
