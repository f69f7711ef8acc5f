// In another language than English: what the helper, the extension and the panel say is all in that one, and the
// extension still knows by the stage that a measurement runs. The workbench itself stays English here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "../rig.mjs";
import { definedAt, goToLine, lensTexts, newPage, panelFrame, patience, pickSample, showSource, until } from "./page.mjs";

const language = "zh-cn";
const bundle = JSON.parse(readFileSync(path.join(projectRoot, "l10n", `bundle.l10n.${language}.json`), "utf8"));

/** The translation up to its first value. */
const begin = (english) => bundle[english].split("{0}")[0];

export async function languageTests({ browser, rig, sample, measured, artifacts, test }) {
  const { context, page, shot } = await newPage(browser, artifacts);
  const frame = panelFrame(page);
  await page.addInitScript((value) => {
    const setting = { get: () => value, set() {} }; // what the page's own texts would set is left out
    Object.defineProperty(globalThis, "_VSCODE_NLS_LANGUAGE", setting);
  }, language);
  try {
    await test(
      "a measurement tells its stages in the display language, and can be stopped there",
      async () => {
        await showSource(page, rig.url);
        await goToLine(page, definedAt(measured) + 1);
        await page.keyboard.press("Control+k");
        await page.keyboard.press("Alt+m");
        await pickSample(page, sample);
        const toast = page.locator(".notification-toast", { hasText: `${bundle.recording} ·` });
        await toast.waitFor(patience);
        await toast.locator("a", { hasText: bundle["Stop and Show Now"] }).click();
        await frame.locator("h1", { hasText: measured }).waitFor(patience);
      },
      page,
    );

    await test(
      "lenses, panel and notes are in the display language, and nothing in the panel is cut off",
      async () => {
        await until("lenses", async () => (await lensTexts(page)).some((text) => text.startsWith(begin("mean {0} · p50 {1} · p99 {2} · max {3} · {4}"))));
        await frame.locator("details.recording summary").click();
        const notes = await frame.locator("details.recording li").allTextContents();
        assert.ok(notes.length > 0);
        for (const note of notes) assert.match(note, /\p{Script=Han}/u);
        const heads = await frame.locator("h2").allTextContents();
        for (const english of ["Flame graph", "Callers", "Children", "Threads"]) assert.ok(heads.includes(bundle[english]), `${english} in ${heads.join(", ")}`);
        const cut = await frame.locator("body").evaluate((body) =>
          [...body.querySelectorAll("main *")]
            .filter((each) => !each.closest("svg") && getComputedStyle(each).overflowX === "hidden" && each.scrollWidth > each.clientWidth + 1)
            .map((each) => each.textContent),
        );
        assert.deepEqual(cut, []);
        await shot("language");
      },
      page,
    );
  } finally {
    await context.close();
  }
}
