// A path in debug information is the one of the machine that built the program. Finds the same file here.

/**
 * Candidates in order of preference: the path itself, then, for each folder, the longest end of the
 * path down to the bare name: /build/x/src/a.cpp in /home/me/x gives /home/me/x/build/x/src/a.cpp, …,
 * /home/me/x/a.cpp.
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
