// The panel: each gesture changes the selection and every view, and the copied command line prints the same figures.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { endless, makeEndlessHelper } from "../endless-helper.mjs";
import { ask, measure, sampleSource } from "../live.mjs";
import { startRig } from "../rig.mjs";
import { briefFigure, count, duration, looks, newPage, openTab, panelFrame, panelText, patience, startPatience, until, violationsInPanel } from "./page.mjs";

/** Splits a command line as a shell does. */
const argumentsOf = (command) => execFileSync("sh", ["-c", `for each in ${command.replace(/^ptlens /, "")}; do printf '%s\\0' "$each"; done`], { encoding: "utf8" }).split("\0").slice(0, -1);

/** The call in it that was off the CPU longest: write_audit, or accept_order where stock was taken. */
const waitingCall = ({ calls }) => calls.filter(({ depth }) => depth === 1).sort((one, other) => other.off_cpu - one.off_cpu)[0];
/** The calls that it made itself, in order, each with the line of its call site. */
const callsMadeBy = ({ calls }) => calls.filter(({ depth }) => depth === 1).map(({ function: name, line }) => `${name} at line ${line}`);
const nameOf = ({ function: name }) => name.match(/\w+(?=\(|$)/)[0];

/** What the longest part of the slowest call says. Other programs can preempt the function itself for longer than it waits in a call. */
function longestWait(timeline) {
  const own = timeline.calls.filter(({ depth }) => depth === 1).reduce((rest, call) => rest - call.off_cpu, timeline.off_cpu);
  const waiting = waitingCall(timeline);
  return own > waiting.off_cpu ? "preempted" : `waits in ${nameOf(waiting)}`;
}

export async function panelTests({ browser, sample, measured, artifacts, test }) {
  const recording = path.join(sample.scratch, "panel-recording");
  measure({ pid: sample.pid, functionName: measured, seconds: 3, output: recording });
  const report = ask("report", recording, "--function", measured);
  const rig = await startRig({
    folder: path.dirname(sampleSource),
    file: sampleSource,
    keys: [{ key: "ctrl+alt+8", command: "ptlens.openRecording", args: path.join(sample.scratch, endless) }],
    environment: { PTLENS_HELPER: makeEndlessHelper(sample.scratch, process.env.PTLENS_HELPER), PTLENS_OPEN_RECORDING: recording, PTLENS_OPEN_FUNCTION: measured },
  });
  const { context, page, shot } = await newPage(browser, artifacts);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const frame = panelFrame(page);
  const counted = () => panelText(frame.locator(".bar .count"));
  const chips = () => frame.locator(".chip").allTextContents().then((texts) => texts.map((text) => text.replaceAll("\u00a0", " ")));

  /** Presses Copy as Command and runs what is copied. Returns its JSON. */
  async function copied() {
    await page.evaluate(() => globalThis.navigator.clipboard.writeText(""));
    await frame.getByRole("button", { name: "Copy as Command" }).click();
    const command = await until("a command in the clipboard", async () => {
      const text = await page.evaluate(() => globalThis.navigator.clipboard.readText());
      return text.startsWith("ptlens ") && text;
    });
    const args = argumentsOf(command);
    const json = args[0] === "calls" ? "--json-lines" : "--json";
    return { command, text: execFileSync(process.env.PTLENS_HELPER, [...args, json], { encoding: "utf8", maxBuffer: 1 << 28 }) };
  }

  /** Drags over a part of the histogram, from and to shares of its width. */
  async function brush(from, to) {
    const box = await frame.locator("[data-section=histogram] .u-over").boundingBox();
    const at = (share) => box.x + box.width * share;
    await page.mouse.move(at(from), box.y + 60);
    await page.mouse.down();
    await page.mouse.move(at((from + to) / 2), box.y + 64, { steps: 3 });
    await page.mouse.move(at(to), box.y + 64, { steps: 3 });
    await page.mouse.up();
  }

  await test(
    "the panel opens with all calls and no chip",
    async () => {
      await page.goto(rig.url, { waitUntil: "commit", ...startPatience });
      await page.locator(".monaco-editor .view-line").first().waitFor(startPatience);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.keyboard.press("Control+b");
      await frame.locator("h1", { hasText: measured }).waitFor(startPatience);
      await until("the count", async () => (await counted()).startsWith(`All ${count(report.calls.complete)} calls`));
      assert.deepEqual(await chips(), []);
      await frame.locator("[data-section=histogram] canvas").waitFor(patience);
      await shot("panel-overview-dark");
    },
    page,
  );

  /** Checks the count of calls against the command line, which must have this option. */
  async function agrees(option) {
    // The command of the selection before may be copied first.
    const { calls } = await until(`the count that a command with ${option} prints`, async () => {
      const { command, text } = await copied();
      if (!command.includes(option)) return undefined;
      const answer = JSON.parse(text);
      const { complete } = answer.calls;
      const expected = complete === 0 ? "No call" : `${count(complete)} of ${count(report.calls.complete)} calls`;
      return (await counted()).startsWith(expected) && answer;
    });
    return calls.complete;
  }

  let selected;
  await test(
    "a brush in the histogram selects calls, and the copied command reports the same ones",
    async () => {
      await brush(0.3, 0.99); // those that write the audit log, and others; no bin of short calls reaches so far
      await frame.locator(".chip[data-kind=latency]").waitFor(patience);
      const { text } = await until("the report of the selection", async () => {
        const run = await copied();
        return run.command.includes("--latency") && run;
      });
      selected = JSON.parse(text);
      assert.ok(selected.calls.complete > 0 && selected.calls.complete < report.calls.complete);
      await until("its count", async () => (await counted()).startsWith(`${count(selected.calls.complete)} of ${count(report.calls.complete)} calls`));
      const row = await panelText(frame.locator(".figures .s"));
      for (const name of ["p50", "max", "mean"]) assert.ok(row.includes(briefFigure(selected.latency, name)), `${name} ${briefFigure(selected.latency, name)} in ${row}`);
      const callers = selected.callers.map(({ calls }) => count(calls));
      const shown = await frame.locator("[data-section=callers] td.sel-text").allTextContents();
      assert.deepEqual(shown.slice().sort(), callers.slice().sort());
      await shot("panel-brush-dark");
    },
    page,
  );

  await test(
    "every view is of the selected calls",
    async () => {
      await openTab(frame, "Calls");
      await frame.locator(".call-list .latency").first().waitFor(patience);
      assert.ok((await panelText(frame.locator("[data-section=calls] h2"))).startsWith(`${count(selected.calls.complete)} call`));
      const listed = (await copied()).text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
      assert.equal(listed.length, selected.calls.complete);
      const slowest = Math.max(...listed.map(({ latency }) => latency));
      await until("the slowest first", async () => (await panelText(frame.locator(".call-list .latency").first())).startsWith(duration(slowest)));
      const first = listed.find(({ latency }) => latency === slowest);
      const all = execFileSync(process.env.PTLENS_HELPER, ["calls", "--function", measured, "--json-lines", recording], { encoding: "utf8", maxBuffer: 1 << 28 });
      const before = all.split("\n").filter((line) => line !== "" && JSON.parse(line).start < first.start).length;
      const row = frame.locator(".call-list .call-row").first();
      assert.equal(await panelText(row.locator("[role=cell]").first()), `#${count(before + 1)}`);
      const { timeline } = ask("timeline", recording, "--function", measured, "--call", `${first.tid}:${first.start}`);
      assert.match(await panelText(row.locator(".parts")), new RegExp(`^${longestWait(timeline)}, [\\d.]+ ms`));
      await shot("panel-calls-dark");
      await openTab(frame, "Flame graph");
      await frame.locator(".graph canvas").waitFor(patience);
      const text = await panelText(frame.locator(".crumbs"));
      assert.ok(text.includes(`${count(selected.calls.complete)} calls`), text);
      await shot("panel-flame-dark");
      await openTab(frame, "Why slow");
      await frame.locator("[data-section=bridge] .bridge").waitFor(patience);
      const { explain } = JSON.parse((await copied()).text);
      assert.equal(explain.slow.calls, selected.calls.complete);
      const bridge = await panelText(frame.locator(".bridge"));
      const isBelow = explain.resolution_ns >= explain.typical.mean;
      const typical = isBelow ? `< ${duration(explain.typical.mean + explain.resolution_ns)}` : duration(explain.typical.mean);
      for (const mean of [typical, duration(explain.slow.mean)]) assert.ok(bridge.includes(mean), `${mean} in ${bridge}`);
      await shot("panel-why-dark");
    },
    page,
  );

  await test(
    "rows add chips, Undo and Escape remove them, and tabs change with digits",
    async () => {
      await openTab(frame, "Overview");
      const before = await chips();
      await frame.locator("[data-section=threads] tbody tr").first().click();
      await frame.locator(".chip[data-kind=tids]").waitFor(patience);
      assert.equal((await chips()).length, before.length + 1);
      await agrees("--tid");
      await frame.locator("[data-section=threads] tbody tr").first().click();
      await until("the second click removes it", async () => (await frame.locator(".chip[data-kind=tids]").count()) === 0);
      await frame.getByRole("button", { name: "Undo" }).click();
      await frame.locator(".chip[data-kind=tids]").waitFor(patience);
      await frame.locator(".chip[data-kind=tids]").getByRole("button").press("Backspace");
      await until("no thread", async () => (await frame.locator(".chip[data-kind=tids]").count()) === 0);
      const callee = frame.locator("[data-section=children] tr.pickable", { hasText: "write_audit" });
      await callee.click({ position: { x: 400, y: 12 } });
      const audited = await agrees("--calls");
      assert.ok(audited > 0);
      await callee.click({ position: { x: 400, y: 12 } });
      await callee.click({ position: { x: 400, y: 12 }, modifiers: ["Alt"] });
      await until("those that do not call it", async () => (await agrees("--calls")) === selected.calls.complete - audited);
      await callee.click({ position: { x: 400, y: 12 } });
      await frame.locator("[data-section=callers] tr.pickable").first().click({ position: { x: 400, y: 12 } });
      await agrees("--caller");
      await frame.getByRole("button", { name: "Undo" }).click();
      await frame.locator("h1").press("4");
      await frame.locator('[role=tab][aria-selected="true"]', { hasText: "Calls" }).waitFor(patience);
      await frame.locator("h1").press("1");
      await frame.locator('[role=tab][aria-selected="true"]', { hasText: "Overview" }).waitFor(patience);
      await frame.locator("h1").press("Escape");
      await frame.locator("h1").press("Escape");
      await until("all calls again", async () => (await counted()).startsWith(`All ${count(report.calls.complete)} calls`));
    },
    page,
  );

  await test(
    "a limit moves with the arrow keys from bin to bin",
    async () => {
      const lower = frame.getByRole("slider", { name: "Lower limit" });
      await lower.press("ArrowRight");
      await frame.locator(".chip[data-kind=latency]").waitFor(patience);
      const first = Number(await lower.getAttribute("aria-valuenow"));
      await lower.press("Shift+ArrowRight");
      await until("further right", async () => Number(await lower.getAttribute("aria-valuenow")) > first);
      await frame.getByRole("button", { name: "Clear", exact: true }).click();
    },
    page,
  );

  await test(
    "the search in the flame graph counts a share of the time, and the selection survives a reload of the page",
    async () => {
      await brush(0.55, 0.99);
      await frame.locator(".chip[data-kind=latency]").waitFor(patience);
      const chosen = await chips();
      await openTab(frame, "Flame graph");
      await frame.locator(".graph canvas").waitFor(patience);
      await frame.getByRole("textbox", { name: "Search frames" }).fill("/audit/");
      await until("the share", async () => /^\d+\.\d % matched · 1 of \d/.test(await panelText(frame.locator(".matched"))));
      // Another editor in its place: VS Code discards the page.
      const tab = page.locator(".tab", { hasText: "PT Lens" }).first();
      await page.locator(".tab", { hasText: "order_server.cpp" }).first().click();
      await tab.click();
      await frame.locator(".chip[data-kind=latency]").waitFor(patience);
      assert.deepEqual(await chips(), chosen);
    },
    page,
  );

  await test(
    "a row of Calls opens its timeline, which shows what the copied command prints",
    async () => {
      await frame.locator("h1").press("Escape");
      await frame.locator("h1").press("Escape");
      await openTab(frame, "Calls");
      await frame.locator(".call-list .latency").first().waitFor(patience);
      const list = frame.locator(".call-list");
      await list.press("ArrowDown");
      await list.press("Enter");
      await frame.locator(".timeline .bar").first().waitFor(patience);
      const { command, text } = await until("the command of the timeline", async () => {
        const run = await copied();
        return run.command.includes("timeline") && run.command.includes("--call") && run;
      });
      const { timeline } = JSON.parse(text);
      const listed = (await panelText(frame.locator("[data-section=one-call] .head"))).includes("Call 2 of");
      assert.ok(listed, "the second slowest call");
      const brief = ({ latency, resolution }) => (resolution > 0 && resolution >= latency ? `< ${duration(latency + resolution)}` : duration(latency));
      const title = await panelText(frame.locator(".timeline .title").first());
      assert.ok(title.includes(`${timeline.thread} ${timeline.tid} · ${brief(timeline)}`), `${title}: ${command}`);
      await frame.locator(".timeline .title").nth(1).waitFor(patience);
      assert.ok((await panelText(frame.locator(".timeline .title").last())).includes(brief(timeline.twin)), "the twin");
      await frame.locator("[data-section=timeline]").getByRole("button", { name: "Table" }).click();
      const rows = frame.locator("[data-section=timeline] tbody tr");
      const shown = (await rows.allTextContents()).map((row) => row.replaceAll("\u00a0", " ")).filter((row) => row.startsWith("This call"));
      const drawn = timeline.calls.length + timeline.waits.length;
      assert.ok(shown.length > 1 && shown.length <= drawn, `${shown.length} rows of ${drawn}`);
      const longest = [...timeline.waits].sort((one, other) => other.duration - one.duration)[0];
      assert.ok(longest !== undefined, "the second slowest call waits");
      const wait = shown.find((row) => row.includes(duration(longest.duration)) && row.includes(longest.reason));
      assert.ok(wait?.includes(longest.waker?.text.replaceAll("`", "") ?? ""), `${JSON.stringify(longest)} in ${shown.join("\n")}`);
      const waiting = waitingCall(timeline);
      assert.ok(shown.some((row) => row.includes(nameOf(waiting)) && row.includes(brief(waiting))), brief(waiting));
      await frame.locator("[data-section=timeline]").getByRole("button", { name: "Chart" }).click();
      const whole = await panelText(frame.locator("[data-section=differences] tr.total"));
      for (const each of [brief(timeline), brief(timeline.twin)]) assert.ok(whole.includes(each), `${each} in ${whole}`);
      // A call that waits for a lock or is preempted makes the same calls as the typical one. Otherwise a call that only one of them
      // made is named as a difference.
      const { timeline: typical } = ask("timeline", recording, "--function", measured, "--call", `${timeline.twin.tid}:${timeline.twin.start}`);
      const parted = timeline.twin.calls[timeline.twin.first_divergence];
      const differences = await panelText(frame.locator("[data-section=differences] tbody"));
      if (parted === undefined) assert.deepEqual(callsMadeBy(timeline), callsMadeBy(typical));
      else assert.ok(differences.includes(nameOf(parted)), `${parted.function} in ${differences}`);
    },
    page,
  );

  await test(
    "the keyboard moves in the timeline, goes to other calls and keeps one for comparison",
    async () => {
      const tree = frame.locator(".timeline-scroll");
      await tree.press("ArrowDown");
      const first = await tree.getAttribute("aria-activedescendant");
      await tree.press("ArrowDown");
      await until("another bar", async () => (await tree.getAttribute("aria-activedescendant")) !== first);
      await frame.locator("[data-section=timeline] .card").waitFor(patience);
      await tree.press(" ");
      await tree.press("[");
      await frame.locator("h2", { hasText: "The slowest call" }).waitFor(patience);
      await frame.locator(".timeline .title", { hasText: "Kept call" }).waitFor(patience);
      await tree.press("]");
      await frame.locator(".timeline .title", { hasText: "Nearest typical call" }).waitFor(patience);
      await tree.press(" ");
      await frame.locator("h1").press("1");
      const box = await frame.locator("[data-section=scatter] .u-over").boundingBox();
      await until("a click on a point", async () => {
        for (let y = 6; y < 40; y += 6) {
          for (let x = 4; x < box.width; x += 6) {
            await page.mouse.move(box.x + x, box.y + y);
            if (await frame.locator("[data-section=scatter] .tip").isHidden()) continue;
            await page.mouse.click(box.x + x, box.y + y);
            return true;
          }
        }
        return false;
      });
      await frame.locator(".timeline .bar").first().waitFor(patience);
    },
    page,
  );

  await test(
    "Stop ends the decoding of another recording, and the panel shows what it did before",
    async () => {
      await page.keyboard.press("Control+Alt+8");
      const decoding = frame.locator(".decoding");
      await decoding.waitFor(patience);
      assert.match(await panelText(decoding), /^Decoding, 41 % of 100 B\. The figures are of the first 660 calls\. Stop$/);
      await decoding.getByRole("button", { name: "Stop" }).click();
      await decoding.waitFor({ state: "detached", ...patience });
      await frame.locator("h1", { hasText: measured }).waitFor(patience);
      await page.locator(".tab", { hasText: `PT Lens: shop::${measured}` }).waitFor(patience);
      await until("the progress is gone, and no message comes instead", async () => (await page.locator(".notification-toast").count()) === 0);
    },
    page,
  );

  await test(
    "all tabs in four themes and two widths",
    async () => {
      for (const [name, media, selector] of looks) {
        await page.emulateMedia(media);
        await page.locator(`.monaco-workbench${selector}`).waitFor(patience);
        for (const [width, viewport] of [["wide", 1600], ["narrow", 1000]]) {
          await page.setViewportSize({ width: viewport, height: 1000 });
          for (const tab of ["Overview", "Flame graph", "Why slow", "Calls", "Timeline"]) {
            await openTab(frame, tab);
            await shot(`panel-${tab.toLowerCase().replace(" ", "-")}-${name}-${width}`);
            const overflow = await frame.locator("body").evaluate((body) => body.scrollWidth - body.clientWidth);
            assert.ok(overflow <= 0, `${tab}, ${name}, ${width}: the page scrolls sideways by ${overflow} pixels`);
            // A theme changes colors and nothing else.
            if (width === "wide") assert.deepEqual(await violationsInPanel(page, name === "dark" ? undefined : ["color-contrast"]), [], `axe-core, ${tab}, ${name}`);
          }
        }
      }
    },
    page,
  );
  await context.close();
  await rig.stop();
}
