// Builds what has changed: the helper (helper/build/ptlens), the sample program and the bundles in out/.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { at, isMain, main, runBeside, sample, sampleSource, say, together } from "./steps.mjs";
import { setUp } from "./setup.mjs";

const isNewer = (source, product) => !existsSync(product) || statSync(source).mtimeMs > statSync(product).mtimeMs;

const read = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");

// The unit tests are configured only when they are asked for: `npm start` does without GoogleTest.
async function configure(folder, tests) {
  const isConfigured = existsSync(path.join(folder, "build/build.ninja"));
  const cache = read(path.join(folder, "build/CMakeCache.txt"));
  const hasTests = /^PTLENS_TESTS:BOOL=ON$/m.test(cache);
  const ccache = /^CCACHE:FILEPATH=(\/.+)$/m.exec(cache)?.[1];
  const ccacheIsGone = ccache !== undefined && !existsSync(ccache);
  if (ccacheIsGone) rmSync(path.join(folder, "build"), { recursive: true });
  if (isConfigured && !ccacheIsGone && (hasTests || !tests)) return;
  say("Build: configuring the helper");
  const options = tests ? ["-DPTLENS_TESTS=ON"] : [];
  await runBeside("cmake", ["--preset", "release", "--log-level=WARNING", ...options], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

async function buildHelper({ targets, tests }) {
  const folder = at("helper");
  await configure(folder, tests);
  const wanted = targets.length > 0 ? ["--target", ...targets] : [];
  await runBeside("cmake", ["--build", "--preset", "release", "--parallel", String(os.availableParallelism()), ...wanted], {
    cwd: folder,
    env: { NINJA_STATUS: "Build: %f/%t ", ...process.env },
  });
}

// The order server, which people measure first.
export async function buildSample() {
  if (!isNewer(sampleSource, sample)) return;
  say("Build: the order server");
  mkdirSync(path.dirname(sample), { recursive: true });
  await runBeside(process.env.CXX ?? "g++", ["-std=c++20", "-g", "-O2", "-pthread", "-o", sample, sampleSource]);
}

// The extension and the webview; tests: also the bundles that the tests run. Needs the npm packages.
export const buildBundles = ({ tests = false } = {}) =>
  runBeside(process.execPath, [at("tools/bundle.mjs"), ...(tests ? ["--tests"] : [])]);

// The helper and the sample program. targets: CMake targets; without any, all of them.
export const buildNative = ({ targets = [], tests = false } = {}) => together(buildHelper({ targets, tests }), buildSample());

if (isMain(import.meta)) {
  await main(async () => {
    await setUp({ node: true });
    await buildNative({ targets: ["ptlens"] });
    await buildBundles();
  });
}
