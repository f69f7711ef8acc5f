// Bundles the TypeScript: protocol types from extension/protocol.schema.json, then the extension and
// the webview into out/. --types: only the protocol types. --tests: also the unit tests and the tests
// that run in the extension host. --watch: stays and rebuilds.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { compile } from "json-schema-to-typescript";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const at = (...parts) => path.join(root, ...parts);
const flags = new Set(process.argv.slice(2));

async function writeProtocolTypes() {
  const schema = JSON.parse(await readFile(at("extension/protocol.schema.json"), "utf8"));
  const text = await compile(schema, "Protocol", {
    additionalProperties: false,
    bannerComment: "// Generated from extension/protocol.schema.json by tools/bundle.mjs. Do not edit.",
    format: false,
  });
  const target = at("extension/src/protocol/protocol.generated.ts");
  const present = await readFile(target, "utf8").catch(() => "");
  if (present !== text) await writeFile(target, text);
}

const common = { bundle: true, sourcemap: true, logLevel: "warning", absWorkingDir: root };

const extension = {
  ...common,
  entryPoints: { extension: at("extension/src/extension.ts") },
  outdir: at("out"),
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
};

const webview = {
  ...common,
  entryPoints: { webview: at("webview/main.tsx") },
  outdir: at("out"),
  platform: "browser",
  target: "es2022",
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".ttf": "file" },
  assetNames: "[name]", // codicon.ttf
};

const testFiles = (folder, suffix) =>
  readdirSync(at(folder), { recursive: true })
    .filter((name) => name.endsWith(suffix))
    .map((name) => at(folder, name));

const unitTests = () => ({
  ...common,
  // One folder of bundles, whatever folder a test is in.
  entryPoints: Object.fromEntries(testFiles("test/extension-unit", ".test.ts").map((file) => [path.basename(file, ".ts"), file])),
  outdir: at("out/extension-unit"),
  platform: "node",
  target: "node20",
  format: "cjs",
});

const hostTests = () => ({
  ...common,
  entryPoints: [
    at("test/editor/host/index.ts"),
    ...["one-folder", "multi-root", "untrusted"].flatMap((suite) => testFiles(`test/editor/host/${suite}`, ".test.ts")),
  ],
  outbase: at("test/editor/host"),
  outdir: at("out/test-host"),
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode", "mocha"],
});

await mkdir(at("out"), { recursive: true });
await writeProtocolTypes();
if (!flags.has("--types")) {
  const builds = [extension, webview];
  if (flags.has("--tests")) {
    // Bundles of tests that were renamed or removed must not run.
    for (const folder of ["out/extension-unit", "out/test-host"]) await rm(at(folder), { recursive: true, force: true });
    builds.push(unitTests(), hostTests());
  }
  if (flags.has("--watch")) {
    for (const options of builds) {
      const context = await esbuild.context({ ...options, logLevel: "info" });
      await context.watch();
    }
  } else {
    await Promise.all(builds.map((options) => esbuild.build(options)));
  }
}
