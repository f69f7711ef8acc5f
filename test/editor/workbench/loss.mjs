// Lost trace in the panel: over time, and in the time line of a call that went on afterwards.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { ask, sampleSource } from "../live.mjs";
import { makeLossy } from "../programs.mjs";
import { startRig } from "../rig.mjs";
import { duration, looks, newPage, openTab, panelFrame, panelText, patience, startPatience, until, violationsInPanel } from "./page.mjs";

const measured = "xdrrec_skiprecord";

export async function lossTests({ browser, sample, artifacts, test }) {
  const recording = makeLossy(sample.scratch, path.join(path.dirname(process.env.PTLENS_HELPER), "samples", "order_server"));
  if (recording === undefined) {
    console.log("skipped: lost trace in the panel: the simulator is not built");
    return;
  }
  const rig = await startRig({ folder: path.dirname(sampleSource), file: sampleSource, environment: { PTLENS_OPEN_RECORDING: recording, PTLENS_OPEN_FUNCTION: measured } });
  const { context, page, shot } = await newPage(browser, artifacts);
  const frame = panelFrame(page);
  const report = ask("report", recording, "--function", measured);

  await test(
    "lost trace is said over time, with the way to the incomplete calls",
    async () => {
      await page.goto(rig.url, { waitUntil: "commit", ...startPatience });
      await frame.locator("h1", { hasText: measured }).waitFor(startPatience);
      await page.emulateMedia({ colorScheme: "dark" });
      const section = frame.locator("[data-section=scatter]");
      await section.locator("canvas").waitFor(patience);
      assert.ok((await panelText(section)).includes(`${duration(report.recording.lost_ns)} of the trace is lost`));
      await shot("loss-overview-dark");
      assert.equal(report.calls.incomplete, 1);
      await section.getByRole("button", { name: "Show the incomplete call" }).click();
      await frame.locator(".chip", { hasText: "incomplete" }).waitFor(patience);
      await until("the count", async () => (await panelText(frame.locator(".bar .count"))).startsWith("1 of 1 calls"));
    },
    page,
  );

  await test(
    "the time line draws the lost trace that the simulator's truth has",
    async () => {
      await openTab(frame, "Timeline");
      const truth = readFileSync(`${recording}.truth`, "utf8").split("\n").filter((line) => line.includes('"loss"')).map((line) => JSON.parse(line));
      await frame.locator(".timeline .bar.lost").first().waitFor(patience);
      await frame.locator("[data-section=timeline]").getByRole("button", { name: "Table" }).click();
      const rows = (await frame.locator("[data-section=timeline] tbody tr").allTextContents()).map((row) => row.replaceAll("\u00a0", " ")).filter((row) => row.includes("lost,"));
      const { tid } = JSON.parse(execFileSync(process.env.PTLENS_HELPER, ["calls", "--json-lines", "--state", "incomplete", "--function", measured, recording], { encoding: "utf8" }));
      const own = truth.filter((loss) => loss.tid === tid);
      assert.ok(own.length > 0, `losses of thread ${tid} in ${JSON.stringify(truth)}`);
      assert.equal(rows.length, own.length);
      await frame.locator("[data-section=timeline]").getByRole("button", { name: "Chart" }).click();
      for (const [name, media, selector] of looks) {
        await page.emulateMedia(media);
        await page.locator(`.monaco-workbench${selector}`).waitFor(patience);
        await shot(`loss-timeline-${name}`);
        assert.deepEqual(await violationsInPanel(page, name === "dark" ? undefined : ["color-contrast"]), [], `axe-core, ${name}`);
      }
    },
    page,
  );
  await context.close();
  await rig.stop();
}
