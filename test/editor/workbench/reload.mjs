// The results are shown again after the window was reloaded.
import { execFileSync } from "node:child_process";
import { newestRecording, sampleSource } from "../live.mjs";
import { choose, definedAt, goToLine, lensTexts, newPage, openContextMenu, patience, pickSample, showSource, startPatience, until } from "./page.mjs";

export async function reloadTests({ browser, rig, sample, measured, artifacts, test }) {
  const { context, page } = await newPage(browser, artifacts);
  const figures = async () => (await lensTexts(page)).filter((text) => text.includes(" typical")).sort().join("\n");
  let before;

  await test(
    "the code lenses of a measured function are the same after a reload of the window",
    async () => {
      await showSource(page, rig.url);
      await goToLine(page, definedAt(measured));
      await openContextMenu(page, measured);
      await choose(page, "Measure Latency");
      await pickSample(page, sample);
      const stop = page.locator(".statusbar-item", { hasText: "Stop and show results" });
      await stop.waitFor(patience);
      await page.locator(".notification-toast", { hasText: "recording ·" }).waitFor(patience);
      await page.waitForTimeout(1500);
      await stop.click();
      before = await until("a lens", figures);
      await page.reload({ waitUntil: "commit", ...startPatience });
      await page.locator(".monaco-editor .view-line").first().waitFor(startPatience);
      await until("the same lenses", async () => (await figures()) === before);
    },
    page,
  );

  await test(
    "if the cached calls are gone, the trace is decoded again",
    async () => {
      execFileSync(process.env.PTLENS_HELPER, ["store", newestRecording(`${rig.scratch}/state`), "--remove"]);
      await page.reload({ waitUntil: "commit", ...startPatience });
      await page.locator(".tab", { hasText: sampleSource.split("/").at(-1) }).first().waitFor(startPatience);
      await until("the same lenses", async () => (await figures()) === before);
    },
    page,
  );
  await context.close();
}
