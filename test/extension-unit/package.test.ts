// The package contains every file that package.json and the extension refer to, and no other file.
import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { languages } from "../../extension/src/source/languages";

const root = path.resolve(__dirname, "../..");
const at = (file: string): string => path.join(root, file);

/** Returns the paths of files in a JSON value. */
function named(value: unknown): string[] {
  if (typeof value === "string") return /^(\.\/)?[\w-]+\/[\w./-]+\.\w+$/.test(value) ? [path.normalize(value)] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(named) : [];
}

describe("the package", () => {
  it("is active in, and has menus for, the languages that the extension annotates", () => {
    const manifest = readFileSync(at("package.json"), "utf8");
    const { activationEvents } = JSON.parse(manifest) as { activationEvents: string[] };
    assert.deepEqual(activationEvents, languages.map((language) => `onLanguage:${language}`));
    const conditions = [...manifest.matchAll(/editorLangId =~ (\S+)/g)].map(([, pattern = ""]) => pattern.replace(/["\\,]+$/, ""));
    assert.ok(conditions.length > 0);
    assert.deepEqual([...new Set(conditions)], [`/^(${languages.join("|")})$/`]);
  });

  it("names every text of package.json once in package.nls.json", () => {
    const texts = JSON.parse(readFileSync(at("package.nls.json"), "utf8")) as Record<string, string>;
    const used = [...readFileSync(at("package.json"), "utf8").matchAll(/"%([\w.]+)%"/g)].map(([, key = ""]) => key);
    assert.deepEqual([...new Set(used)].sort(), Object.keys(texts).sort());
  });

  it("contains these files only", function () {
    this.timeout(120_000);
    const manifest = JSON.parse(readFileSync(at("package.json"), "utf8")) as { main: string; icon?: string; contributes: unknown };
    const images = [...readFileSync(at("README.md"), "utf8").matchAll(/!\[[^\]]*\]\(([^):]+)\)/g)].map(([, file = ""]) => file);
    const expected = new Set([
      "package.json",
      "README.md",
      "CHANGELOG.md",
      "LICENSE",
      path.normalize(manifest.main),
      "out/webview.js",
      "out/webview.css",
      "out/codicon.ttf",
      "helper/build/ptlens",
      "extension/sample/order_server.cpp", // Measure the Sample builds it
      ...named(manifest.icon),
      ...named(manifest.contributes),
      ...images,
      ...readdirSync(root).filter((file) => /^package\.nls(\.[\w-]+)?\.json$/.test(file)),
      ...readdirSync(at("l10n")).filter((file) => file.endsWith(".json")).map((file) => `l10n/${file}`),
    ]);
    assert.ok([...expected].filter((file) => file.includes("walkthrough/")).length >= 3, "the pictures of the walkthrough");
    const listed = execFileSync(process.execPath, [at("node_modules/@vscode/vsce/vsce"), "ls", "--no-dependencies"], { cwd: root, encoding: "utf8" });
    const packed = listed.split("\n").filter(Boolean).sort();
    // Files of the build may not exist yet.
    assert.deepEqual(packed, [...expected].filter((file) => existsSync(at(file)) || !/^(out|helper)\//.test(file)).sort());
  });
});
