// The side bar: its empty state, recordings, functions and processes; rename, compare and delete.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { ask, newestRecording } from "../live.mjs";
import { brief, choose, count, definedAt, duration, figure, goToLine, latencyFigure, newPage, patience, pickSample, runCommand, showSource, until } from "./page.mjs";

export async function sideBarTests({ browser, rig, sample, measured, artifacts, test }) {
  const { context, page, shot } = await newPage(browser, artifacts);
  const stateHome = path.join(rig.scratch, "state");
  const view = (name) => page.locator(".pane", { has: page.locator(".pane-header", { hasText: name }) });
  const rows = (name) => view(name).locator(".monaco-list-row");
  const recordings = () => rows("Recordings");

  async function measureOnce() {
    await goToLine(page, definedAt(measured));
    await runCommand(page, "PT Lens: Measure Latency");
    await page.locator(".quick-input-title", { hasText: "Measure latency" }).waitFor(patience);
    await pickSample(page, sample);
    const stop = page.locator(".statusbar-item", { hasText: "Stop and show results" });
    await stop.waitFor(patience);
    await page.locator(".notification-toast", { hasText: "recording ·" }).waitFor(patience);
    await page.waitForTimeout(1200);
    await stop.click();
    await stop.waitFor({ state: "detached", ...patience });
  }

  async function rowMenu(row, item) {
    await until(`the menu of a row with ${item}`, async () => {
      await row.click({ button: "right" });
      await page.getByRole("menuitem", { name: item }).waitFor({ timeout: 5000 });
      return true;
    });
    await page.waitForTimeout(300);
    await choose(page, item);
  }

  await test(
    "the empty side bar explains what to do",
    async () => {
      await showSource(page, rig.url);
      await runCommand(page, "View: Show PT Lens");
      await view("Recordings").getByRole("button", { name: "Measure Latency" }).waitFor(patience);
      await view("Recordings").getByRole("button", { name: "Check This Machine" }).waitFor(patience);
      await page.getByText("This view lists the functions of a recording").waitFor(patience);
      await shot("side-bar-empty");
    },
    page,
  );

  await test(
    "a measurement is on the list, active, with time and target",
    async () => {
      await measureOnce();
      const row = recordings().first();
      await until("the row", async () => /handle_order.*active.*order_server/s.test(await row.textContent()));
      const { recording } = ask("report", newestRecording(stateHome), "--function", measured);
      assert.ok((await row.textContent()).includes(duration(recording.trace_ns)));
    },
    page,
  );

  await test(
    "its functions are listed with the figures of ptlens functions --json, sorted and filtered",
    async () => {
      const { functions } = ask("functions", newestRecording(stateHome));
      const byName = (name) => functions.find((each) => each.name.includes(name));
      const first = rows("Functions").first();
      await until("the first has most total time", async () => (await first.textContent()).includes(functions[0].name.replace(/\(.*$/, "")));
      assert.ok((await first.textContent()).includes(`total ${brief(figure(functions[0].inclusive, functions[0].uncertainty?.inclusive))}`));
      await runCommand(page, "PT Lens: Sort Functions");
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "Mean latency" }).click();
      const slowest = [...functions].sort((a, b) => b.mean - a.mean)[0];
      await until("the first has the highest mean", async () => (await first.textContent()).includes(`mean ${brief(figure(slowest.mean, slowest.uncertainty?.mean))}`));
      await runCommand(page, "PT Lens: Sort Functions");
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "99th percentile" }).click();
      const p99 = brief(latencyFigure(ask("report", newestRecording(stateHome), "--function", measured).latency, "p99"));
      await until("p99 is shown", async () => (await rows("Functions").allTextContents()).some((text) => text.includes(`p99 ${p99}`)));
      await runCommand(page, "PT Lens: Filter Functions");
      await page.getByPlaceholder("Words in the name").fill("accept");
      await page.keyboard.press("Enter");
      await until("one is left", async () => (await rows("Functions").count()) === 1);
      const text = await first.textContent();
      const { mean, complete, uncertainty } = byName("accept_order");
      assert.ok(text.includes(`mean ${brief(figure(mean, uncertainty?.mean))}`) && text.includes(`${count(complete)} calls`), text);
      await runCommand(page, "PT Lens: Clear Filter");
      await until("all are back", async () => (await rows("Functions").count()) === functions.length);
    },
    page,
  );

  await test(
    "a second one becomes active, and the first its baseline",
    async () => {
      await measureOnce();
      await until("two rows", async () => (await recordings().count()) === 2);
      await until("the newer is active", async () => (await recordings().first().textContent()).includes("active"));
      await rowMenu(recordings().nth(1), "Compare with This Recording");
      await until("the older is the baseline", async () => (await recordings().nth(1).textContent()).includes("baseline"));
      await shot("side-bar-dark");
      await page.emulateMedia({ colorScheme: "light" });
      await page.locator(".monaco-workbench.vs").waitFor(patience);
      await shot("side-bar-light");
      await page.emulateMedia({ colorScheme: "dark" });
      await runCommand(page, "PT Lens: Stop Comparing");
      await until("no baseline", async () => !(await recordings().nth(1).textContent()).includes("baseline"));
    },
    page,
  );

  await test(
    "a click shows the other recording, and Rename and Delete work",
    async () => {
      await recordings().nth(1).click();
      await until("the older is active", async () => (await recordings().nth(1).textContent()).includes("active"));
      await rowMenu(recordings().nth(1), "Rename Recording");
      await page.locator(".quick-input-title", { hasText: "Rename" }).waitFor(patience);
      await page.locator(".quick-input-widget input").fill("before the change");
      await page.keyboard.press("Enter");
      await until("the new name", async () => (await recordings().nth(1).textContent()).includes("before the change"));
      const folder = path.join(stateHome, "ptlens", "recordings");
      const before = readdirSync(folder).length;
      const newest = newestRecording(stateHome);
      await rowMenu(recordings().first(), "Delete Recording");
      await page.locator(".monaco-dialog-box", { hasText: "and its files" }).waitFor(patience);
      await page.locator(".monaco-dialog-box").getByRole("button", { name: "Delete" }).click();
      await until("one row", async () => (await recordings().count()) === 1);
      await until("its folder is gone", () => readdirSync(folder).length === before - 1);
      assert.equal(existsSync(newest), false);
    },
    page,
  );

  await test(
    "running processes are listed, the one built from the open file first",
    async () => {
      await view("Processes").locator(".pane-header").click();
      await until("our process", async () => (await rows("Processes").allTextContents()).some((text) => text.includes(String(sample.pid))));
      assert.match(await rows("Processes").first().textContent(), /order_server.*built from the open file/s);
      await shot("side-bar-processes");
    },
    page,
  );
  await context.close();
}
