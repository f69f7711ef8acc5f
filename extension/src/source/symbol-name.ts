// Converts the names of a language server to names as symbol tables have them. Without the vscode module.

/**
 * Returns the name of a function with its scopes, without parameters and template parameters. `chain` contains the
 * names from the outermost symbol to the function. Returns "" if no name remains.
 */
export function qualifiedName(chain: readonly string[], language: string): string {
  const parts = chain.map((name) => (language === "go" ? goPart(name) : language === "rust" ? rustPart(name) : cppPart(name)));
  const known = parts.filter((part) => part !== "");
  return known.join(language === "go" ? "." : "::");
}

/** "largest<T>(T, T)" becomes "largest", "operator()(int)" becomes "operator()". */
function cppPart(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "(anonymous namespace)" || trimmed === "(anonymous)" || trimmed.startsWith("(lambda")) return "";
  const operator = /operator\s*(\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>]=?|[^\s\w(<]+|"" ?\w+|\s[^(]+)/.exec(trimmed);
  if (operator !== null) return trimmed.slice(0, operator.index + operator[0].length).trim();
  return trimmed.replace(/[<(].*$/s, "").trim();
}

/** "impl Priced for Order<T>" becomes "Order", "largest<T>" becomes "largest". */
function rustPart(name: string): string {
  const implemented = /^impl(?:<[^>]*>)?\s+(?:.*\sfor\s+)?(?:&\s*(?:mut\s+)?)?([^<\s]+)/.exec(name.trim());
  const part = implemented?.[1] ?? name.trim().replace(/[<(].*$/s, "");
  return part.startsWith("dyn ") ? part.slice(4) : part;
}

/** "(*Order[T]).Price" becomes "(*Order).Price". */
function goPart(name: string): string {
  return name.replace(/\[[^\]]*\]/g, "").trim();
}

/** Whether an argument or parameter list follows the identifier that ends at `end`. */
export function isFollowedByCall(line: string, end: number): boolean {
  return /^\s*(?:::)?(?:<[^;{}]*>)?\s*\(/.test(line.slice(end)) || /^\[[^\]]*\]\(/.test(line.slice(end));
}
