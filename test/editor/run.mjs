// The tests in the real editor: Mocha in the extension host, then Playwright on the workbench, both with a running order
// server. Screenshots go to test/artifacts/. The last line is "N passed, N failed[, N skipped]".
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { launch } from "./browser.mjs";
import { build, buildReady, helperCanMeasure, measure, startSample, sampleSource } from "./live.mjs";
import { makeLongFile, makeTimed } from "./programs.mjs";
import { makeTwoFolders, makeUntrustedFolder } from "./workspaces.mjs";
import { projectRoot, startRig } from "./rig.mjs";
import { workbenchTests } from "./workbench/index.mjs";

// --host or --workbench runs only one of them. A second argument selects a suite (untrusted: host/untrusted) or a group
// of tests (measure: measureTests).
const [only, file] = process.argv.slice(2);
const artifacts = path.join(projectRoot, "test", "artifacts");
const measured = "handle_order";
const hostTimeout = 600_000;
const totals = { passed: 0, failed: 0, skipped: 0 };
const stops = []; // cleanup functions, run in reverse order

async function stopAll() {
  while (stops.length > 0) await stops.pop()();
}

async function hostTests(browser, rig, resultFile) {
  rmSync(resultFile, { force: true });
  const page = await browser.newPage();
  const ended = new Promise((resolve) => {
    void page.exposeFunction("codeAutomationExit", resolve);
    setTimeout(() => resolve("no answer"), hostTimeout).unref();
  });
  await page.exposeFunction("codeAutomationLog", () => undefined);
  const tests = path.join(projectRoot, "out", "test-host", "index.js");
  await page.goto(rig.address([["extensionTestsPath", rig.remote(tests)]]), { waitUntil: "commit", timeout: hostTimeout });
  const status = await ended;
  await page.close();
  if (!existsSync(resultFile)) {
    totals.failed += 1;
    console.log(`FAILED: Mocha in the extension host ended (${status}) without a result`);
    return;
  }
  const { passed, failed, lines } = JSON.parse(readFileSync(resultFile, "utf8"));
  for (const line of lines) console.log(line);
  totals.passed += passed;
  totals.failed += failed;
}

let broken = false;

/** Runs a test of a session. After a failure, the remaining tests of the session are not run. */
async function test(name, body, page) {
  if (broken) {
    totals.failed += 1;
    console.log(`FAILED: ${name} (not reached)`);
    return;
  }
  try {
    await body();
    totals.passed += 1;
    console.log(`passed: ${name}`);
  } catch (error) {
    totals.failed += 1;
    console.log(`FAILED: ${name}\n${error.stack ?? error}`);
    await page.screenshot({ path: path.join(artifacts, "failed.png") }).catch(() => undefined);
    broken = true;
  }
}

async function main() {
  if (!buildReady()) build();
  mkdirSync(artifacts, { recursive: true });
  if (!helperCanMeasure()) {
    totals.skipped += 1;
    console.log("skipped: the editor's tests measure a live process: run them as root, or on a machine with Intel PT");
    return;
  }
  try {
    const sample = await startSample();
    stops.push(() => sample.stop());
    const scratch = sample.scratch;
    const recording = path.join(scratch, "recording");
    const resultFile = path.join(scratch, "host-result.json");
    measure({ pid: sample.pid, functionName: measured, seconds: 1, output: recording });
    const hostEnvironment = () => {
      const baseline = path.join(scratch, "baseline");
      measure({ pid: sample.pid, functionName: measured, seconds: 1, output: baseline });
      const long = makeLongFile(scratch);
      const timed = makeTimed(scratch);
      return {
        PTLENS_TEST_BASELINE: baseline,
        PTLENS_TEST_LONG_SOURCE: long.source,
        PTLENS_TEST_LONG_RECORDING: long.recording,
        ...(timed === undefined ? {} : { PTLENS_TEST_TIMED_SOURCE: timed.source, PTLENS_TEST_TIMED_RECORDING: timed.recording }),
      };
    };
    const rigOptions = {
      folder: path.dirname(sampleSource),
      file: sampleSource,
      settings: { "ptlens.duration": 60, "ptlens.probeBudget": 100 }, // other programs run beside the tests
      environment: {
        PTLENS_HELPER: process.env.PTLENS_HELPER,
        PTLENS_TEST_FUNCTION: measured,
        PTLENS_TEST_PID: String(sample.pid),
        PTLENS_TEST_RECORDING: recording,
        PTLENS_TEST_RESULT: resultFile,
        PTLENS_TEST_SOURCE: sampleSource,
      },
    };
    const browser = await launch();
    stops.push(() => browser.close());
    if (only !== "--workbench") {
      const environment = { ...rigOptions.environment, ...hostEnvironment() };
      const suites = [
        { suite: "one-folder", options: rigOptions },
        { suite: "multi-root", options: { folder: makeTwoFolders(scratch) } },
        { suite: "untrusted", options: { folder: makeUntrustedFolder(scratch), trust: "asked" } },
      ];
      for (const { suite, options } of suites.filter((each) => file === undefined || each.suite === file)) {
        const rig = await startRig({ ...options, environment: { ...environment, PTLENS_TEST_SUITE: suite }, driver: true });
        stops.push(() => rig.stop());
        await hostTests(browser, rig, resultFile);
        await stops.pop()();
      }
      const long = path.join(scratch, "long-file.json");
      if (existsSync(long)) console.log(`20,000 lines, 5,000 with calls, longest tasks of the extension host in ms: ${readFileSync(long, "utf8")}`);
    }
    if (only !== "--host") {
      const rig = await startRig(rigOptions);
      stops.push(() => rig.stop());
      for (const tests of workbenchTests) {
        if (file !== undefined && tests.name !== `${file}Tests`) continue;
        broken = false;
        await tests({ browser, rig, sample, measured, artifacts, test });
      }
    }
  } finally {
    await stopAll();
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    void stopAll().finally(() => process.exit(1));
  });
}
try {
  await main();
} catch (error) {
  totals.failed += 1;
  console.log(`FAILED: the editor's tests could not run\n${error.stack ?? error}`);
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
process.exit(totals.failed > 0 ? 1 : 0);
