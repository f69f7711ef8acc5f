// The targets of a measurement: a program of a launch configuration, a thread, and a process with a slow call. All with
// the simulator instead of perf, in a separate editor.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { ask, newestRecording, sampleSource } from "../live.mjs";
import { projectRoot, startRig } from "../rig.mjs";
import { count, definedAt, drawnFrames, duration, goToLine, newPage, openTab, panelFrame, panelText, patience, pickSample, runCommand, showSource, until } from "./page.mjs";

const simulator = process.env.PTSIM ?? path.join(projectRoot, "helper/build/ptsim/ptsim");
const server = process.env.PTLENS_SAMPLE ?? path.join(projectRoot, "helper/build/samples/order_server");
const slowest = 8_000; // ms
const threshold = 6_000; // ms; single-stepping also takes time
const orders = 40; // of the launch configuration

export async function targetsTests({ browser, measured, artifacts, test }) {
  if (!existsSync(simulator)) {
    console.log(`skipped: targets: ${simulator} is not built`);
    return;
  }
  const configuration = {
    name: "Forty orders", type: "cppdbg", request: "launch", program: server,
    args: ["--threads", "1", "--rate", "0", "--orders", String(orders)], cwd: "${workspaceFolder}",
  };
  const unknown = { name: "From CMake", type: "cppdbg", request: "launch", program: "${command:cmake.launchTargetPath}" };
  const rig = await startRig({
    folder: path.dirname(sampleSource),
    file: sampleSource,
    settings: {
      "ptlens.duration": 0, "ptlens.backend": "intel_pt", "ptlens.perfPath": simulator,
      launch: { version: "0.2.0", configurations: [configuration, unknown] },
    },
    environment: { PTLENS_HELPER: process.env.PTLENS_HELPER },
  });
  const { context, page, shot } = await newPage(browser, artifacts);
  const stateHome = path.join(rig.scratch, "state");
  const frame = panelFrame(page);
  try {
    await test(
      "the picker offers launch configurations, and explains why one cannot be started",
      async () => {
        await showSource(page, rig.url);
        await goToLine(page, definedAt(measured) + 1);
        await runCommand(page, "PT Lens: Measure Latency");
        const rows = page.locator(".quick-input-list .monaco-list-row");
        await rows.filter({ hasText: "Forty orders" }).waitFor(patience);
        assert.match(await rows.filter({ hasText: "From CMake" }).textContent(), /cannot replace/);
        await shot("launch-configurations");
      },
      page,
    );

    await test(
      "a program of a launch configuration is started and measured to its end",
      async () => {
        await page.keyboard.type("Forty orders");
        await until("it is chosen", async () => (await page.locator(".quick-input-list .monaco-list-row.focused").textContent())?.includes("Forty orders"));
        await page.keyboard.press("Enter");
        await frame.locator("h1", { hasText: measured }).waitFor(patience);
        await until("the panel shows all orders", async () => (await panelText(frame.locator(".figures"))).includes(count(orders)));
        const report = ask("report", newestRecording(stateHome), "--function", measured);
        assert.equal(report.calls.complete, orders);
      },
      page,
    );

    await test(
      "a thread is chosen with the keyboard",
      async () => {
        const child = spawn(server, ["--threads", "3", "--rate", "20"], { stdio: ["ignore", "ignore", "inherit"] });
        try {
          const threads = await until("its threads", () => {
            const found = readdirSync(`/proc/${child.pid}/task`);
            return found.length > 2 && found;
          });
          await goToLine(page, definedAt(measured) + 1);
          await runCommand(page, "PT Lens: Measure Latency");
          await page.locator('.quick-input-widget input[placeholder*="Process or program"]').waitFor(patience);
          const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: String(child.pid) });
          await page.locator(".quick-input-list .monaco-list-row").first().waitFor(patience);
          await page.keyboard.type(String(child.pid));
          await row.waitFor(patience);
          await page.keyboard.press("Tab"); // to the list
          await page.locator(".quick-input-list .monaco-list:focus").waitFor(patience);
          await page.keyboard.press("Tab");
          const focused = page.locator(".monaco-list-row.focused .action-label:focus");
          await focused.waitFor(patience);
          assert.equal(await focused.getAttribute("aria-label"), "Choose a Thread…");
          await page.keyboard.press("Enter");
          await page.locator(".quick-input-title", { hasText: `Threads of order_server (${child.pid})` }).waitFor(patience);
          const rows = page.locator(".quick-input-list .monaco-list-row");
          const named = await until("its threads are listed", async () => {
            const labels = await rows.evaluateAll((found) => found.map((each) => each.getAttribute("aria-label") ?? ""));
            return labels.length === threads.length + 1 && labels;
          });
          for (const thread of threads) assert.ok(named.some((label) => label.includes(`order_server, ${thread}`)), `${thread} in ${named.join("; ")}`);
          await page.keyboard.press("Escape");
        } finally {
          child.kill();
          if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        }
      },
      page,
    );

    await test(
      "a slow call is caught, and shown with the calls before it",
      async () => {
        // Orders 5 to 19: none is rejected, for unwinding takes long when it is single-stepped.
        const earlier = newestRecording(stateHome);
        const child = spawn(server, ["--threads", "1", "--rate", "0", "--orders", "19", "--slow-every", "19", "--stock-ms", String(slowest), "--wait-at", "5"], { stdio: ["pipe", "pipe", "inherit"] });
        try {
          let printed = "";
          child.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
          await until("the server waits", () => printed.includes("waits before order"));
          await goToLine(page, definedAt(measured) + 1);
          await runCommand(page, "PT Lens: Catch a Slow Call");
          const input = page.locator(".quick-input-widget input");
          await page.locator(".quick-input-title", { hasText: "Catch a slow call" }).waitFor(patience);
          await input.fill(`${threshold} ms`);
          await page.keyboard.press("Enter");
          await page.locator('.quick-input-widget input[placeholder*="Process or program"]').waitFor(patience);
          await pickSample(page, { pid: child.pid });
          await page.locator(".notification-toast", { hasText: "waiting for a call" }).waitFor(patience);
          const folder = path.join(stateHome, "ptlens", "recordings");
          await until("it is traced", () => readdirSync(folder).some((name) => name !== path.basename(earlier) && existsSync(path.join(folder, name, "perf.data"))));
          child.stdin.write("\n");
          await frame.locator(".caught").waitFor(patience);
          const recording = newestRecording(stateHome);
          const calls = execFileSync(process.env.PTLENS_HELPER, ["calls", "--json-lines", "--function", measured, recording], { encoding: "utf8" })
            .split("\n").filter(Boolean).map((line) => JSON.parse(line));
          const [slow, ...others] = calls.filter(({ latency }) => latency > threshold * 1e6);
          assert.equal(others.length, 0);
          const text = await panelText(frame.locator(".caught"));
          for (const part of [duration(slow.latency), duration(slow.off_cpu), String(slow.tid)]) assert.ok(text.includes(part), `${part} in ${text}`);
          const rows = frame.locator("table", { hasText: "before" }).first().locator("tbody tr");
          assert.equal(await rows.count(), Math.min(20, calls.filter(({ tid, start }) => tid === slow.tid && start < slow.start).length));
          await openTab(frame, "Flame graph");
          const names = await until("frames", async () => {
            const found = (await drawnFrames(frame)).map(({ name }) => name);
            return found.some((name) => name.includes("mutex_lock")) && found;
          });
          assert.ok(names.some((name) => name.includes("reserve_stock")), "the wait for the lock is in reserve_stock");
          await shot("slow-call");
        } finally {
          child.kill();
          if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        }
      },
      page,
    );
  } finally {
    await context.close();
    await rig.stop();
  }
}
