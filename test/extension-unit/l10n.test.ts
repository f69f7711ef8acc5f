// Every text is there in every language: what package.json and the sources use, with the same placeholders and
// links, and nothing that is used no more.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(__dirname, "../..");
const languages = ["zh-cn", "zh-tw", "ru"] as const;

const table = (file: string): Map<string, string> =>
  new Map(Object.entries(JSON.parse(readFileSync(path.join(root, file), "utf8")) as Record<string, string>));

/** Placeholders, commands of links, settings and code: what a translation must keep. */
function fixed(text: string): string[] {
  return (text.match(/\{\d+\}|\(command:[\w.]+\)|#[\w.]+#|`[^`]*`/g) ?? []).sort();
}

/** Where texts are, and how a call that translates one is written there. */
const places = [
  { folder: "extension/src", suffix: ".ts", call: String.raw`\bt\(` },
  { folder: "webview", suffix: ".ts", call: String.raw`\b(?:t|noted)\((?!english\b)` },
  { folder: "helper/src/export", suffix: ".cpp", call: String.raw`\bsay\(` },
  { folder: "helper/src/record", suffix: ".cpp", call: String.raw`\bsay\(` },
  { folder: "helper/src/server", suffix: ".cpp", call: String.raw`\bsay\(` },
] as const;

function sourceTexts(): Set<string> {
  const texts = new Set<string>();
  for (const { folder, suffix, call } of places) {
    for (const name of readdirSync(path.join(root, folder)).filter((file) => file.endsWith(suffix) && file !== "words.ts")) {
      const source = readFileSync(path.join(root, folder, name), "utf8");
      const calls = [...source.matchAll(new RegExp(call, "g"))].length;
      // In C++ the literals of one text may stand behind each other.
      const literals = [...source.matchAll(new RegExp(String.raw`${call}\s*("(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*)`, "g"))];
      assert.equal(literals.length, calls, `${name}: every text to be translated is a literal in double quotes`);
      for (const [, text = ""] of literals) texts.add((text.match(/"(?:[^"\\\n]|\\.)*"/g) ?? []).map((part) => JSON.parse(part) as string).join(""));
    }
  }
  return texts;
}

describe("texts at run time", () => {
  const used = sourceTexts();
  for (const language of languages) {
    it(`are all there in ${language}, and no others`, () => {
      const bundle = table(`l10n/bundle.l10n.${language}.json`);
      assert.deepEqual([...bundle.keys()].sort(), [...used].sort());
      for (const [text, translated] of bundle) {
        assert.notEqual(translated.trim(), "", text);
        assert.deepEqual(fixed(translated), fixed(text), text);
      }
    });
  }
});

describe("texts of contributions", () => {
  const manifest = readFileSync(path.join(root, "package.json"), "utf8");
  const used = new Set([...manifest.matchAll(/"%([^%"]+)%"/g)].map(([, key = ""]) => key));
  const english = table("package.nls.json");
  it("are all there in English, and no others", () => {
    assert.deepEqual([...english.keys()].sort(), [...used].sort());
  });
  for (const language of languages) {
    it(`are all there in ${language}, and no others`, () => {
      const translated = table(`package.nls.${language}.json`);
      assert.deepEqual([...translated.keys()].sort(), [...used].sort());
      for (const [key, text] of english) assert.deepEqual(fixed(translated.get(key) ?? ""), fixed(text), key);
    });
  }
  it("are all in these files: no title or description is written into package.json", () => {
    const { contributes } = JSON.parse(manifest) as { contributes: Record<string, unknown> };
    const literals: string[] = [];
    const look = (value: unknown, at: string): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [name, inner] of Object.entries(value)) {
        const place = `${at}.${name}`;
        if (typeof inner !== "string") look(inner, place);
        else if (/^(title|description|markdownDescription|contents|altText)$/.test(name) && !inner.startsWith("%") && inner !== "PT Lens") literals.push(place);
      }
    };
    look(contributes, "contributes");
    assert.deepEqual(literals, []);
  });
});
