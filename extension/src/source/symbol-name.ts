// From what a language server calls a function, and what stands around it, to a name as symbol tables
// have it. Pure: no VS Code in it.

/**
 * `chain`: names from the outermost symbol to the function; `detail` of a symbol is not among them.
 * Parameters and template parameters are left out. Answers "" for a name that cannot be one.
 */
export function qualifiedName(chain: readonly string[], language: string): string {
  const parts = chain.map((name) => (language === "go" ? goPart(name) : language === "rust" ? rustPart(name) : cppPart(name)));
  const known = parts.filter((part) => part !== "");
  return known.join(language === "go" ? "." : "::");
}

/** "largest<T>(T, T)" is "largest"; "operator()(int)" is "operator()". */
function cppPart(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "(anonymous namespace)" || trimmed === "(anonymous)" || trimmed.startsWith("(lambda")) return "";
  const operator = /operator\s*(\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?|[^\s\w(<]+|"" ?\w+|\s[^(]+)/.exec(trimmed);
  if (operator !== null) return trimmed.slice(0, operator.index + operator[0].length).trim();
  return trimmed.replace(/[<(].*$/s, "").trim();
}

/** "impl Priced for Order<T>" is "Order", "largest<T>" is "largest". */
function rustPart(name: string): string {
  const implemented = /^impl(?:<[^>]*>)?\s+(?:.*\sfor\s+)?(?:&\s*(?:mut\s+)?)?([^<\s]+)/.exec(name.trim());
  const part = implemented?.[1] ?? name.trim().replace(/[<(].*$/s, "");
  return part.startsWith("dyn ") ? part.slice(4) : part;
}

/** "(*Order[T]).Price" is "(*Order).Price". */
function goPart(name: string): string {
  return name.replace(/\[[^\]]*\]/g, "").trim();
}

/** Whether the identifier that ends at `end` is called or has its parameters there. */
export function isFollowedByCall(line: string, end: number): boolean {
  return /^\s*(?:::)?(?:<[^;{}]*>)?\s*\(/.test(line.slice(end)) || /^\[[^\]]*\]\(/.test(line.slice(end));
}
