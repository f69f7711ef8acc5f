// The helper is killed during a measurement: one message with the reason and an action.
import assert from "node:assert/strict";
import path from "node:path";
import { ask, helpersOf, newestRecording } from "../live.mjs";
import { brief, count, definedAt, goToLine, latencyFigure, lensTexts, newPage, patience, pickSample, runCommand, showSource, until } from "./page.mjs";

export async function helperEndTests({ browser, rig, sample, measured, artifacts, test }) {
  const { context, page, shot } = await newPage(browser, artifacts);
  const toasts = () => page.locator(".notification-toast");
  const begun = () => page.locator(".notification-toast", { hasText: "recording ·" }).waitFor(patience);

  await test(
    "killing the helper during a measurement shows one message with the reason",
    async () => {
      await showSource(page, rig.url);
      await goToLine(page, definedAt(measured));
      await runCommand(page, "PT Lens: Measure Latency");
      await page.locator(".quick-input-title", { hasText: "Measure latency" }).waitFor(patience);
      await pickSample(page, sample);
      await begun();
      for (const pid of helpersOf(rig.scratch)) process.kill(Number(pid), "SIGSEGV");
      await page.locator(".notification-toast", { hasText: "SIGSEGV" }).waitFor(patience);
      await page.waitForTimeout(1500);
      assert.equal(await toasts().count(), 1);
      await page.locator(".notification-toast").getByText("Show Log").waitFor(patience);
      await shot("helper-end");
    },
    page,
  );

  await test(
    "its action repeats the measurement, and the result is shown",
    async () => {
      await toasts().getByRole("button", { name: "Measure Again" }).click();
      await begun();
      await page.waitForTimeout(1000);
      await page.locator(".statusbar-item", { hasText: "Stop and show results" }).click();
      await page.locator(".codelens-decoration", { hasText: / calls?\b/ }).first().waitFor(patience);
      const report = ask("report", newestRecording(path.join(rig.scratch, "state")), "--function", measured);
      const figures = [`${brief(latencyFigure(report.latency, "p50"))} typical`, `${count(report.calls.complete)} call`];
      await until(`a lens with ${figures}`, async () => (await lensTexts(page)).some((text) => figures.every((figure) => text.includes(figure))));
    },
    page,
  );
  await context.close();
}
