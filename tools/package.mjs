// Makes ptlens-VERSION-linux-ARCH.vsix: the bundles and the helper, for this machine's architecture. It is made of
// copies in a folder of their own, where the helper is without its debug information, ten times as large as itself.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { at, capture, isMain, main, root, run, say, StepError } from "./steps.mjs";

const vsce = at("node_modules/@vscode/vsce/vsce");
const helper = "helper/build/ptlens";

function copies(folder) {
  const { status, stdout, stderr } = capture(process.execPath, [vsce, "ls", "--no-dependencies"]);
  if (status !== 0) throw new StepError(`vsce cannot list the files of the package: ${stderr.trim()}`);
  for (const file of stdout.split("\n").filter(Boolean)) {
    const target = path.join(folder, file);
    mkdirSync(path.dirname(target), { recursive: true });
    // Its symbols stay: it sets probes on functions of its own to know what probes cost.
    if (file === helper) run("strip", ["--strip-debug", "-o", target, at(file)]);
    else copyFileSync(at(file), target);
  }
}

function makePackage(args) {
  if (!args.includes("--no-build")) run(process.execPath, ["tools/build.mjs"]);
  const { version } = JSON.parse(readFileSync(at("package.json"), "utf8"));
  const target = `linux-${process.arch}`;
  const file = path.join(root, `ptlens-${version}-${target}.vsix`);
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-package-"));
  try {
    copies(folder);
    run(
      process.execPath,
      [vsce, "package", "--target", target, "--out", file, "--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links"],
      { cwd: folder },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say(`${path.basename(file)}: ${(statSync(file).size / 1024 / 1024).toFixed(1)} MiB`);
}

if (isMain(import.meta)) await main(() => makePackage(process.argv.slice(2)));
