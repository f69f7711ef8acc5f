// Style and static checks: clang-format and clang-tidy over the C++, ESLint and the TypeScript compiler
// over the rest. Each check is { name, skip?, run() } so that the tests can run the fast ones.
import { existsSync, readdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { at, isMain, main, onPath, root, run, say, StepError } from "./steps.mjs";
import { checkProse } from "./prose.mjs";
import { clangVersion, setUp } from "./setup.mjs";
import { checkStructure } from "./structure.mjs";
import { buildBundles, buildNative } from "./build.mjs";

function sources(folder, endings) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return /^(build|node_modules|artifacts)/.test(entry.name) ? [] : sources(full, endings);
    return endings.some((ending) => entry.name.endsWith(ending)) ? [full] : [];
  });
}

const cpp = (endings) => [at("helper/src"), at("helper/bench"), at("extension/sample"), at("test")].filter(existsSync).flatMap((folder) => sources(folder, endings));
const tool = (name) => onPath(`${name}-${clangVersion}`);
const node = (script, ...args) => run(process.execPath, [at("node_modules", script), ...args]);

export const fastChecks = () => [
  {
    name: "C++ is formatted",
    skip: tool("clang-format") ? undefined : `clang-format-${clangVersion} is not installed`,
    run: () => run(tool("clang-format"), ["--dry-run", "--Werror", ...cpp([".cpp", ".hpp"])]),
  },
  { name: "Modules, folders and files depend one way", run: checkStructure },
  { name: "Texts are in plain English", run: checkProse },
  { name: "TypeScript passes the compiler", run: () => node("typescript/bin/tsc", "-p", root) },
  { name: "TypeScript passes ESLint", run: () => node("eslint/bin/eslint.js", "-c", at(".eslint.config.mjs"), root) },
];

const slowChecks = () => [
  {
    name: "C++ passes clang-tidy",
    skip: tool("clang-tidy") ? undefined : `clang-tidy-${clangVersion} is not installed`,
    run: () => {
      const commands = at("helper/build-lint"); // those of everything, benchmarks too
      run("cmake", ["--preset", "release", "--log-level=WARNING", "-B", commands, "-DPTLENS_BENCHMARKS=ON", "-DPTLENS_TESTS=ON", "-DCMAKE_UNITY_BUILD=OFF"], { cwd: at("helper"), stdio: ["ignore", "ignore", "inherit"] });
      const files = cpp([".cpp"]).filter((file) => ![at("test/samples"), at("extension/sample")].some((folder) => file.startsWith(folder)));
      run("xargs", ["-0", "-P", String(os.availableParallelism()), "-n", "8", tool("clang-tidy"), "--quiet", "-p", commands], {
        input: files.join("\0"),
        stdio: ["pipe", "inherit", "inherit"],
      });
    },
  },
];

if (isMain(import.meta)) {
  await main(async () => {
    await setUp({ lint: true });
    await buildNative({ tests: true });
    await buildBundles();
    const failed = [...fastChecks(), ...slowChecks()].filter(({ name, skip, run: check }) => {
      if (skip) {
        say(`skipped: ${name}: ${skip}`);
        return false;
      }
      try {
        check();
        say(`passed: ${name}`);
        return false;
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        say(`FAILED: ${name}`);
        return true;
      }
    });
    if (failed.length > 0) throw new StepError(`lint: ${failed.map(({ name }) => name).join("; ")}: FAILED`);
  });
}
