// Checks that the text a person reads uses plain English: comments and strings of the sources, and the documents. The list
// holds words that this project once used in place of the field's own.
import { readFileSync } from "node:fs";
import path from "node:path";
import { capture, isMain, main, root, say, StepError } from "./steps.mjs";

// [pattern, what to write instead]
const rules = [
  [/\banew\b/i, "again"],
  [/\b(un)?told\b/i, "reported, known, given"],
  [/(?<!\bcannot )\btells?\b/i, "shows, reports, says, indicates"],
  [/\btelling\b/i, "showing, reporting"],
  [/\bbears\b/i, "has, carries"],
  [/\bstands (for|at|on|where|in|behind|before|above|below|there)\b/i, "represents, is"],
  [/\black(s|ed|ing)\b/i, "does not have, missing"],
  [/\bof which\b/i, "a relative clause with a subject"],
  [/\b(there|where)of\b/i, "of it, of which"],
  [/\bof them that\b/i, "a noun"],
  [/\blies in\b/i, "is in"],
  [/\bholds no\b/i, "does not contain"],
  [/\bto be had\b/i, "available"],
  [/\bsees to it\b/i, "ensures"],
  [/\bin vain\b/i, "without success"],
];

const checked = /\.(cpp|hpp|tsx?|mjs|md|json|css|txt|cmake)$/;
const skipped = /(^|\/)(package-lock\.json|node_modules\/|LICENSE)|^tools\/prose\.mjs$/;
const isDocument = (file) => /\.(md|json|txt)$/.test(file);

// Comments and string literals, with the offsets at which they begin.
const readable = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|R"([^(\s]*)\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

function textsOf(file, content) {
  if (isDocument(file)) return [{ text: content, offset: 0 }];
  return [...content.matchAll(readable)].map((found) => ({ text: found[0], offset: found.index }));
}

// Lines "FILE:LINE: word (write: …)" for each banned word in the files.
export function findBannedWords(files, read = (file) => readFileSync(path.join(root, file), "utf8")) {
  const findings = [];
  for (const file of files) {
    const content = read(file);
    for (const { text, offset } of textsOf(file, content)) {
      for (const [pattern, instead] of rules) {
        for (const found of text.matchAll(new RegExp(pattern, "gi"))) {
          const line = content.slice(0, offset + found.index).split("\n").length;
          findings.push(`${file}:${line}: "${found[0]}" (write: ${instead})`);
        }
      }
    }
  }
  return findings;
}

export function checkProse() {
  const listed = capture("git", ["ls-files", "-z"]);
  if (listed.status !== 0) throw new StepError("git cannot list the files of the project");
  const files = listed.stdout.split("\0").filter((file) => checked.test(file) && !skipped.test(file));
  const findings = findBannedWords(files);
  findings.slice(0, 50).forEach((finding) => say(finding));
  if (findings.length > 0) throw new StepError(`${findings.length} words that a native speaker would not use here`);
}

if (isMain(import.meta)) await main(checkProse);
