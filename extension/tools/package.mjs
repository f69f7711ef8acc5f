// Makes ptlens-VERSION-linux-ARCH.vsix: the bundles and the helper, for this machine's architecture.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const run = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" });

if (!process.argv.includes("--no-build")) run("extension/tools/build.mjs");

const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const target = `linux-${process.arch}`;
const file = `ptlens-${version}-${target}.vsix`;
run(
  path.join("node_modules", "@vscode", "vsce", "vsce"),
  "package",
  "--target", target,
  "--out", file,
  "--no-dependencies",
  "--allow-missing-repository",
  "--no-rewrite-relative-links",
);
const size = statSync(path.join(root, file)).size;
console.log(`${file}: ${(size / 1024 / 1024).toFixed(1)} MiB`);
