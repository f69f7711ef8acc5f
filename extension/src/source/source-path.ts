// Debug information contains paths of the machine that built the program. Finds the same file on this machine.

/**
 * Returns candidates in order of preference: the path itself, then each suffix of the path in each folder, longest
 * first. For /build/x/src/a.cpp in /home/me/x these are /home/me/x/build/x/src/a.cpp, …, /home/me/x/a.cpp.
 */
export function sourceCandidates(recorded: string, folders: readonly string[]): string[] {
  const parts = recorded.split("/").filter((part) => part !== "" && part !== ".");
  const candidates = recorded.startsWith("/") ? [recorded] : [];
  if (parts.includes("..")) return candidates;
  for (let first = 0; first < parts.length; first += 1) {
    for (const folder of folders) candidates.push(`${folder.replace(/\/+$/, "")}/${parts.slice(first).join("/")}`);
  }
  return [...new Set(candidates)];
}
