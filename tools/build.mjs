// Builds what has changed: the helper (helper/build/ptlens), the sample program and the bundles in out/.
import { existsSync, mkdirSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { at, isMain, main, run, sample, sampleSource, say } from "./steps.mjs";
import { setUp } from "./setup.mjs";

const newer = (source, product) => !existsSync(product) || statSync(source).mtimeMs > statSync(product).mtimeMs;

function buildHelper(targets) {
  const folder = at("helper");
  if (!existsSync(at("helper/build/build.ninja"))) {
    say("Build: configuring the helper");
    run("cmake", ["--preset", "release", "--log-level=WARNING"], { cwd: folder });
  }
  const wanted = targets.length > 0 ? ["--target", ...targets] : [];
  run("cmake", ["--build", "--preset", "release", "--parallel", String(os.availableParallelism()), ...wanted], {
    cwd: folder,
    env: { NINJA_STATUS: "Build: %f/%t ", ...process.env },
  });
}

function buildSample() {
  if (!newer(sampleSource, sample)) return;
  say("Build: the order server");
  mkdirSync(path.dirname(sample), { recursive: true });
  run(process.env.CXX ?? "g++", ["-std=c++20", "-g", "-O2", "-pthread", "-o", sample, sampleSource]);
}

// targets: those of CMake, all without any. tests: also the bundles that the tests run.
export function build({ targets = [], tests = false } = {}) {
  buildHelper(targets);
  buildSample();
  run(process.execPath, [at("tools/bundle.mjs"), ...(tests ? ["--tests"] : [])]);
}

if (isMain(import.meta)) {
  await main(() => {
    setUp();
    build({ targets: ["ptlens"] });
  });
}
