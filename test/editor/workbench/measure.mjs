// A measurement as a user makes it: right-click, picker, progress, code lenses, line texts, flame graph.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { ask, newestRecording, probesOf, sampleSource } from "../live.mjs";
import {
  brief, briefFigure, choose, clickFrame, count, definedAt, drawnFrames, figure, goToLine, latencyFigure, lensTexts, lineShare, lineTexts, newPage, openContextMenu,
  openSubmenu, openTab, panelFrame, panelText, patience, pickSample, recordingRunsIn, runCommand, showSource, until, withoutBar,
} from "./page.mjs";

export async function measureTests({ browser, rig, sample, measured, artifacts, test }) {
  const { context, page, shot } = await newPage(browser, artifacts);
  const stateHome = path.join(rig.scratch, "state");
  const recordingRuns = recordingRunsIn(rig);
  let report;
  let lines;

  /** Stops the measurement as soon as it has data. */
  async function stopWhenRecording() {
    const stop = page.locator(".statusbar-item", { hasText: "Stop and show results" });
    await stop.waitFor(patience);
    await page.locator(".notification-toast", { hasText: "recording ·" }).waitFor(patience);
    await page.waitForTimeout(500);
    await stop.click();
    await stop.waitFor({ state: "detached", ...patience });
  }

  await test(
    "the source opens",
    async () => {
      await showSource(page, rig.url);
      await goToLine(page, definedAt(measured));
    },
    page,
  );

  await test(
    "right-click offers Measure Latency, and no Clear before there are results",
    async () => {
      await openContextMenu(page, measured);
      await openSubmenu(page);
      await page.getByRole("menuitem", { name: "Measure Selected Functions" }).waitFor(patience);
      assert.equal(await page.getByRole("menuitem", { name: "Clear Results" }).count(), 0);
      await page.screenshot({ path: path.join(artifacts, "context-menu.png") });
      await choose(page, "Measure Latency");
    },
    page,
  );

  await test(
    "the picker offers the processes that were built from this file first",
    async () => {
      const first = page.locator(".quick-input-list .monaco-list-row.focused");
      await first.waitFor(patience);
      assert.match(await first.textContent(), /order_server.*built from this file/s);
      assert.match(await page.locator(".quick-input-title").first().textContent(), /Measure latency of handle_order/);
      await shot("process-picker");
      await pickSample(page, sample);
    },
    page,
  );

  await test(
    "progress is shown, and stopping keeps the data",
    async () => {
      await page.locator(".notification-toast", { hasText: "measuring" }).waitFor(patience);
      const stop = page.locator(".statusbar-item", { hasText: "Stop and show results" });
      await stop.waitFor(patience);
      await until("the recording runs", recordingRuns);
      await page.waitForTimeout(1500);
      await shot("progress");
      await stop.click();
      await page.locator(".codelens-decoration", { hasText: / calls?\b/ }).first().waitFor(patience);
    },
    page,
  );

  await test(
    "code lenses and line texts show the numbers of ptlens report --json and ptlens lines --json",
    async () => {
      const recording = newestRecording(stateHome);
      report = ask("report", recording, "--function", measured);
      lines = ask("lines", recording, "--file", sampleSource);
      assert.ok(report.calls.complete > 0, "the server handles orders all the time");
      const slowest = report.calls.complete < 100 ? "max" : "p99";
      const figures = [`${brief(latencyFigure(report.latency, "p50"))} typical`, `${slowest} ${brief(latencyFigure(report.latency, slowest))}`, `${count(report.calls.complete)} calls`];
      await until(`a lens with ${figures.join(", ")}`, async () =>
        (await lensTexts(page)).some((text) => figures.every((figure) => text.includes(figure))),
      );
      const visible = lines.lines.filter((row) => row.line >= report.function.line - 5 && row.line <= report.function.line + 14);
      assert.ok(visible.length >= 2, "the measured function has two lines with calls");
      for (const row of visible) {
        if (row.calls === 0) continue;
        const share = (100 * row.total) / report.latency.total;
        if (share < 0.1) continue;
        const expected = `${brief(figure(row.mean, row.uncertainty?.mean))} × ${count(row.calls)} ${lineShare(share)}`;
        await until(`line ${row.line} says ${expected}`, async () => (await lineTexts(page)).some((text) => withoutBar(text).startsWith(expected)));
      }
    },
    page,
  );

  await test(
    "the panel shows the same figures, and the flame graph has frames",
    async () => {
      const frame = panelFrame(page);
      await frame.locator("h1", { hasText: measured }).waitFor(patience);
      const figures = await panelText(frame.locator(".figures"));
      assert.ok(figures.includes(briefFigure(report.latency, "mean")), figures);
      assert.ok(figures.includes(briefFigure(report.latency, "p99")), figures);
      assert.ok(figures.includes(count(report.calls.complete)), figures);
      await frame.locator("[data-section=histogram] canvas").waitFor(patience);
      await shot("overview-dark");
      await frame.locator("[data-section=histogram]").getByRole("button", { name: "Table" }).click();
      const drawn = await frame.locator("[data-section=histogram] td.count").allTextContents();
      const calls = drawn.map((text) => Number(text.replaceAll(",", ""))).reduce((a, b) => a + b, 0);
      assert.equal(calls, report.calls.complete, "the histogram contains every complete call");
      await frame.locator("[data-section=histogram]").getByRole("button", { name: "Chart" }).click();
      await openTab(frame, "Flame graph");
      const names = await until("frames", async () => {
        const found = (await drawnFrames(frame)).map(({ name }) => name);
        return found.length >= 3 && found;
      });
      for (const name of [measured, "accept_order", "write_audit"]) {
        assert.ok(names.some((each) => each.includes(name)), `${name} in ${names.join(", ")}`);
      }
      await shot("flame-graph-dark");
    },
    page,
  );

  await test(
    "the menu of a frame opens its source line, and a click zooms to it",
    async () => {
      const frame = panelFrame(page);
      for (const name of ["write_audit", "accept_order"]) {
        await until(`the frame ${name} leads to its source`, async () => {
          await clickFrame(frame, name, { timeout: 5000, button: "right" });
          await frame.getByRole("menuitem", { name: "Go Deeper" }).waitFor({ timeout: 5000 });
          await frame.getByRole("menuitem", { name: "Open Source" }).click({ timeout: 5000 });
          await page.waitForTimeout(800);
          return (await page.getByText(new RegExp(`Ln ${definedAt(name)}, Col`)).count()) > 0;
        });
        await clickFrame(frame, name);
        await frame.locator(".crumbs", { hasText: name }).waitFor(patience);
        await frame.locator(".deeper").getByRole("button", { name: "Go Deeper" }).waitFor(patience);
        await frame.locator(".crumbs").getByRole("button", { name: measured }).click();
        await until(`${measured} is drawn over the whole width`, async () => (await drawnFrames(frame)).some(({ name, root }) => root && name.includes(measured)));
      }
    },
    page,
  );

  await test(
    "the flame graph counts off-CPU time and all stacks on request",
    async () => {
      const frame = panelFrame(page);
      await frame.getByRole("button", { name: "Off-CPU" }).click();
      await frame.locator('button[aria-pressed="true"]', { hasText: "Off-CPU" }).waitFor(patience);
      await until("a frame waits", async () => (await drawnFrames(frame)).some(({ name }) => name.includes("write_audit")));
      await frame.getByRole("button", { name: "All stacks" }).click();
      await frame.locator('button[aria-pressed="true"]', { hasText: "All stacks" }).waitFor(patience);
      await frame.getByRole("button", { name: "Wall", exact: true }).click();
      await frame.getByRole("button", { name: "All functions" }).click();
      await frame.locator("h2", { hasText: "Functions" }).waitFor(patience);
      await frame.locator("td button", { hasText: "accept_order" }).first().waitFor(patience);
      await shot("all-functions");
      await frame.locator("td button", { hasText: measured }).first().click();
      await frame.locator("h1", { hasText: measured }).waitFor(patience);
    },
    page,
  );

  await test(
    "Go Deeper measures a callee in the same process, and the caller keeps its figures",
    async () => {
      const frame = panelFrame(page);
      await openTab(frame, "Overview");
      await frame.locator("[data-section=children] tr", { hasText: "accept_order" }).getByRole("button", { name: "Go Deeper" }).click();
      await stopWhenRecording();
      await frame.locator("h1", { hasText: "accept_order" }).waitFor(patience);
      const deeper = ask("report", newestRecording(stateHome), "--function", "accept_order");
      assert.ok(deeper.calls.complete > 0);
      await openTab(frame, "Overview");
      const figures = await panelText(frame.locator(".figures"));
      assert.ok(figures.includes(count(deeper.calls.complete)), figures);
      for (const each of [report, deeper]) {
        await goToLine(page, each.function.line);
        const calls = `${count(each.calls.complete)} calls`;
        await until(`the lens of ${each.function.name} with ${calls}`, async () => (await lensTexts(page)).some((text) => text.includes(calls)));
      }
      await shot("go-deeper");
    },
    page,
  );

  await test(
    "Measure Selected Functions makes one recording of all of them",
    async () => {
      await goToLine(page, definedAt("accept_order"));
      for (let line = definedAt("accept_order"); line <= definedAt("write_audit"); line += 1) await page.keyboard.press("Shift+ArrowDown");
      const before = newestRecording(stateHome);
      await runCommand(page, "PT Lens: Measure Selected Functions");
      await page.locator(".quick-input-title", { hasText: "Measure latency" }).waitFor(patience);
      await pickSample(page, sample);
      await stopWhenRecording();
      await panelFrame(page).locator("h1", { hasText: "functions" }).waitFor(patience);
      const recording = newestRecording(stateHome);
      assert.notEqual(recording, before);
      const { functions } = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
      assert.deepEqual(functions.map((name) => name.replace(/\(.*/, "")), ["shop::accept_order", "shop::write_audit"]);
      const { calls } = ask("report", recording, "--function", "accept_order");
      assert.ok(calls.complete > 0);
      await until("its lens", async () => (await lensTexts(page)).some((text) => text.includes(`${count(calls.complete)} calls`)));
    },
    page,
  );

  await test(
    "a light theme is legible as well",
    async () => {
      await page.emulateMedia({ colorScheme: "light" });
      await page.locator(".monaco-workbench.vs").waitFor(patience);
      await goToLine(page, definedAt(measured) + 8);
      await shot("annotations-light");
      const panel = panelFrame(page);
      await panel.locator("table").last().scrollIntoViewIfNeeded();
      await shot("panel-light");
    },
    page,
  );

  await test(
    "a function that is not called has an answer, not an error and not the function before",
    async () => {
      await goToLine(page, definedAt("main"));
      await runCommand(page, "PT Lens: Measure Latency");
      await page.locator(".quick-input-title", { hasText: "Measure latency" }).waitFor(patience);
      await pickSample(page, sample);
      await stopWhenRecording();
      const frame = panelFrame(page);
      await frame.locator("h1", { hasText: "main" }).waitFor(patience);
      await frame.getByText(/No call of main was seen in [\d.]+\sm?s/).waitFor(patience);
      await frame.getByRole("button", { name: "Measure Again" }).waitFor(patience);
      const message = page.locator(".notification-toast", { hasText: "main was not called in" });
      await message.getByRole("button", { name: "Measure Again" }).waitFor(patience);
      await shot("not-called");
      await message.hover();
      await message.getByRole("button", { name: /Clear Notification/ }).click();
    },
    page,
  );

  await test(
    "Clear Results removes all annotations and the panel",
    async () => {
      await goToLine(page, definedAt(measured));
      await openContextMenu(page, measured);
      await openSubmenu(page);
      await choose(page, "Clear Results");
      await until("no lens is left", async () => !(await lensTexts(page)).some((text) => text.includes(" typical")));
      await until("no line text is left", async () => (await lineTexts(page)).length === 0);
      assert.equal(await page.locator("iframe.webview.ready").count(), 0);
    },
    page,
  );

  await test(
    "a measurement can be cancelled, and leaves neither results nor probes",
    async () => {
      await goToLine(page, definedAt(measured));
      await openContextMenu(page, measured);
      await choose(page, "Measure Latency");
      await pickSample(page, sample);
      const toast = page.locator(".notification-toast", { hasText: "measuring" });
      await toast.waitFor(patience);
      await until("the recording runs", recordingRuns);
      await toast.hover();
      await toast.getByRole("button", { name: "Cancel" }).click();
      await toast.waitFor({ state: "detached", ...patience });
      await until("no probe is left", () => probesOf(rig.scratch).length === 0);
      assert.equal((await lensTexts(page)).some((text) => text.includes(" typical")), false);
      assert.equal(await page.locator(".notification-toast .codicon-error").count(), 0);
    },
    page,
  );
  await context.close();
}
