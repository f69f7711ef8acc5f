// The annotations of a source file: code lenses, line texts and hovers, also after an edit, after the program was rebuilt
// and against a baseline. And the accessibility of the panel.
import assert from "node:assert/strict";
import path from "node:path";
import { ask } from "../live.mjs";
import { makeProject } from "../programs.mjs";
import { startRig } from "../rig.mjs";
import { brief, briefFigure, count, duration, figure, goToLine, latencyFigure, lensTexts, lineShare, lineTexts, looks, newPage, openTab, panelFrame, panelText, patience, runCommand, startPatience, until, violationsInPanel, withoutBar } from "./page.mjs";

const textsOf = async (page) => (await lineTexts(page)).map(withoutBar);

/** Returns for each text at the end of a line at which column it begins, and how many characters on the number of calls ends. */
const columns = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".view-lines .view-line")].flatMap((line) => {
      for (const element of line.querySelectorAll("span")) {
        const { content, marginLeft } = getComputedStyle(element, "::after");
        if (!content.startsWith('"') || content.length <= 2) continue;
        const first = document.createTreeWalker(line, 4 /* text */).nextNode();
        const character = document.createRange();
        character.setStart(first, 0);
        character.setEnd(first, 1);
        const column = character.getBoundingClientRect().width;
        const text = JSON.parse(content);
        return [`${Math.round(line.textContent.length + Number.parseFloat(marginLeft) / column)} + ${/^.*×\s[\d,]+/.exec(text)?.[0].length}`];
      }
      return [];
    }),
  );

const goTo = (page, line) => goToLine(page, line, "steps.c");

async function showHover(page) {
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Control+i");
  const hover = page.locator(".monaco-hover-content").first();
  await hover.waitFor(patience);
  return hover;
}

/** Chooses a row of a QuickPick. */
async function pick(page, text) {
  const row = page.locator(".quick-input-list .monaco-list-row", { hasText: text });
  await row.first().waitFor(patience);
  await page.locator(".quick-input-widget input").fill(text);
  await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text }).waitFor(patience);
  await page.keyboard.press("Enter");
}

export async function annotationsTests({ browser, sample, artifacts, test }) {
  const project = makeProject(sample.scratch);
  const rig = await startRig({
    folder: project.folder,
    file: project.source,
    keys: [{ key: "ctrl+alt+9", command: "ptlens.openRecording", args: project.base }],
    environment: { PTLENS_HELPER: process.env.PTLENS_HELPER, PTLENS_OPEN_RECORDING: project.recording, PTLENS_OPEN_FUNCTION: "step" },
  });
  const { context, page, shot } = await newPage(browser, artifacts);
  const report = ask("report", project.recording, "--function", "step");
  const baseReport = ask("report", project.base, "--function", "step");
  const rows = ask("lines", project.recording, "--file", project.source).lines;
  // Both lines are in `step`, which alone was measured.
  const rowText = (row) => `${brief(figure(row.mean, row.uncertainty?.mean))} × ${count(row.calls)} ${lineShare((100 * row.total) / report.latency.total)}`;

  await test(
    "a code lens has the figures of ptlens report --json",
    async () => {
      await page.goto(rig.url, { waitUntil: "commit", ...startPatience });
      await page.locator(".monaco-editor .view-line").first().waitFor(startPatience);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.keyboard.press("Control+b");
      assert.equal(report.calls.complete, 200, "the program calls it 200 times");
      const { latency } = report;
      const shown = (name) => `${name} ${brief(latencyFigure(latency, name))}`;
      const figures = `${brief(latencyFigure(latency, "p50"))} typical · ${shown("p99")} · 200 calls`;
      await until(`the lens ${figures}`, async () => (await lensTexts(page)).some((text) => text.startsWith(figures)));
      const hasTail = latency.p99 >= 2 * latency.p50 && latency.p99 - latency.p50 > 3 * latency.resolution;
      assert.equal((await lensTexts(page)).some((text) => text.includes("Why slow?")), hasTail);
    },
    page,
  );

  await test(
    "line texts have those of ptlens lines --json, in columns",
    async () => {
      const expected = rows.filter((row) => row.calls > 0 && row.line > report.function.line && row.line <= report.function.line + 5).map(rowText);
      assert.ok(expected.length >= 2);
      for (const text of expected) await until(`a line with ${text}`, async () => (await textsOf(page)).includes(text));
      const places = await columns(page);
      // The line in main is longer than the column.
      assert.equal(new Set(places.slice(0, 2)).size, 1, `the numbers of calls are aligned: ${places}`);
      const clipped = await page.evaluate(() => {
        const editor = document.querySelector(".editor-scrollable").getBoundingClientRect();
        const ends = [...document.querySelectorAll(".view-lines .view-line > span")].map((line) => line.getBoundingClientRect().right);
        return ends.filter((end) => end > editor.right).length;
      });
      assert.equal(clipped, 0, "no text is clipped in a split");

      await shot("lines-dark");
    },
    page,
  );

  await test(
    "a hover shows the percentiles, the answer and the method, and its links open the views",
    async () => {
      await goTo(page, report.function.line);
      const hover = await showHover(page);
      const { latency } = report;
      for (const text of ["200 calls", latencyFigure(latency, "p50"), latencyFigure(latency, "p99"), latencyFigure(latency, "max"), "p99.9", "–", "Measured with"]) {
        await hover.getByText(text).first().waitFor(patience);
      }
      for (const name of ["Slowest call", "Flame graph", "Open panel"]) await hover.locator("a", { hasText: name }).first().waitFor(patience);
      await page.screenshot({ path: path.join(artifacts, "hover-dark.png") });
      await hover.locator("a", { hasText: /^Open panel$/ }).click();
      await panelFrame(page).locator("h1", { hasText: "step" }).waitFor(patience);
      await page.keyboard.press("Escape");
    },
    page,
  );

  await test(
    "the panel has the figures of ptlens report --json, and the raw ones behind a click",
    async () => {
      const frame = panelFrame(page);
      const probes = report.recording.backend === "uprobe";
      const shown = await panelText(frame.locator(".figures"));
      for (const name of ["mean", "p50", "p90", "p99", "max", "total"]) assert.ok(shown.includes(briefFigure(report.latency, name)), `${name} ${briefFigure(report.latency, name)} in ${shown}`);
      const missing = frame.locator('.figures td[title="Needs 1,000 calls"]'); // p99.9 of 200 calls
      assert.equal(await panelText(missing), "–");
      assert.equal(report.raw !== undefined, probes);
      assert.equal(await frame.locator(".method").count(), probes ? 1 : 0);
      if (!probes) return;
      assert.match(await frame.locator(".method").innerText(), /^measured with probes: the program ran (less than |at least )?[\d.]+× slower$/);
      const raw = frame.locator(".raw-figures");
      assert.equal(await raw.isVisible(), false);
      await frame.locator(".raw > summary").click();
      await raw.waitFor(patience);
      const texts = await panelText(raw);
      for (const name of ["mean", "p50", "p99", "max"]) assert.ok(texts.includes(duration(report.raw.latency[name])), `${name} in ${texts}`);
      assert.ok(report.raw.latency.mean > report.latency.mean);
      await shot("raw-figures-dark");
    },
    page,
  );

  await test(
    "axe-core finds no serious violation in the panel, and the keyboard works",
    async () => {
      const frame = panelFrame(page);
      for (const name of ["Overview", "Flame graph", "Why slow", "Calls", "Change"]) {
        await openTab(frame, name);
        await page.waitForTimeout(500);
        assert.deepEqual(await violationsInPanel(page), [], name);
      }
      await frame.getByRole("button", { name: "All functions" }).press("Enter");
      await frame.locator("h2", { hasText: "Functions" }).waitFor(patience);
      assert.deepEqual(await violationsInPanel(page), [], "of all functions");
      await frame.locator("td").getByRole("button", { name: "step", exact: true }).press("Enter");
      await frame.locator("h1", { hasText: /^step$/ }).waitFor(patience);
      await openTab(frame, "Flame graph");
      await frame.locator(".graph canvas").waitFor(patience);
      await frame.locator(".graph").focus();
      for (const key of ["ArrowDown", "ArrowUp"]) await page.keyboard.press(key);
      await until("a frame has the keyboard", async () => (await frame.locator(".graph [role=treeitem]").getAttribute("aria-label")).startsWith("step, "));
      await openTab(frame, "Overview");
      await frame.locator("td button").first().focus();
      await until("a button of a table has the keyboard", async () => (await frame.locator("td button:focus").count()) === 1);
    },
    page,
  );

  await test(
    "after an edit the figures move with their lines and are marked",
    async () => {
      await goTo(page, 1);
      const firstLine = () =>
        page.evaluate(() => {
          const top = (line) => line.getBoundingClientRect().top;
          return [...document.querySelectorAll(".view-lines .view-line")].toSorted((a, b) => top(a) - top(b))[0].textContent;
        });
      const original = await firstLine();
      await page.keyboard.press("Home");
      await page.keyboard.type("// edited\n");
      await until("marked line texts", async () => (await textsOf(page)).filter((text) => text.startsWith("✎")).length >= 2);
      await until("a marked lens", async () => (await lensTexts(page)).some((text) => text.startsWith("(before your edit)")));
      await goTo(page, report.function.line + 1);
      const hover = await showHover(page);
      await hover.getByText("before your edit").first().waitFor(patience);
      await page.keyboard.press("Escape");
      await shot("stale-dark");
      const answer = panelFrame(page).locator("header .answer");
      assert.match(await panelText(answer), /^Typically /, "the function itself is as it was measured");
      await goTo(page, report.function.line + 2);
      await page.keyboard.press("End");
      await page.keyboard.type(";");
      await until("the panel says that the function was edited", async () => (await panelText(answer)).startsWith("Before your edit: Typically "));
      await page.keyboard.press("Control+z");
      await until("no such words once that is undone", async () => (await panelText(answer)).startsWith("Typically "));
      await goTo(page, 1);
      await until("the edit is undone", async () => {
        await page.keyboard.press("Control+z"); // a busy editor can drop a key
        return (await firstLine()) === original;
      });
      await until("no mark is left", async () => !(await textsOf(page)).some((text) => text.startsWith("✎")));
      await until("no lens is marked", async () => (await lensTexts(page)).some((text) => /^[<\d]/.test(text)));
    },
    page,
  );

  await test(
    "after the program was rebuilt the figures are marked as of the old binary, also after a reload",
    async () => {
      project.build(31);
      await until("marked lenses", async () => (await lensTexts(page)).some((text) => /^\(old binary\) [<\d]/.test(text)));
      await page.reload({ waitUntil: "commit", ...startPatience });
      await until("marked lenses again", async () => (await lensTexts(page)).some((text) => /^\(old binary\) [<\d]/.test(text)));
      await until("marked line texts", async () => (await textsOf(page)).filter((text) => text.endsWith("old binary")).length >= 2);
      project.build(30);
      await until("the same binary again", async () => (await lensTexts(page)).some((text) => /^[<\d]/.test(text)));
      await until("no line text is marked", async () => {
        const texts = await textsOf(page);
        return texts.length >= 2 && !texts.some((text) => text.endsWith("old binary"));
      });
    },
    page,
  );

  await test(
    "against a baseline, lens and lines show the change with its sign, as ptlens diff does",
    async () => {
      await page.keyboard.press("Control+Alt+9");
      await until("the base is open", async () => (await lensTexts(page)).some((text) => text.includes(`${brief(latencyFigure(baseReport.latency, "p50"))} typical`)));
      await runCommand(page, "PT Lens: Show Recording");
      await pick(page, project.recording);
      await runCommand(page, "PT Lens: Compare with This Recording");
      await pick(page, project.base);
      // A quarter of the base's calls waits, far beyond resolution and scatter.
      const { functions } = ask("diff", project.base, project.recording, "--function", "step");
      const { difference } = functions.find(({ name }) => name.startsWith("step"));
      assert.equal(difference.mean.verdict, "faster");
      const change = 100 * (report.latency.mean / baseReport.latency.mean - 1);
      assert.ok(change < -50, String(change));
      const lens = await until("a lens with the change", async () => (await lensTexts(page)).find((text) => /^faster \u2212\d+ %.* typical .* 200 calls/.test(text)));
      assert.ok(Math.abs(-Number(/^faster \u2212(\d+) %/.exec(lens)[1]) - change) <= 0.51, `${lens}: ${change}`);
      await until("lines with the change", async () => (await textsOf(page)).filter((text) => / ↓ \u2212\d+ %/.test(text)).length >= 2);
      await goTo(page, report.function.line);
      const hover = await showHover(page);
      await hover.getByText("Mean compared with the baseline: faster, \u2212").first().waitFor(patience);
      await page.keyboard.press("Escape");
      await runCommand(page, "PT Lens: Show Flame Graph");
      const frame = panelFrame(page);
      await frame.locator("td").getByRole("button", { name: "step", exact: true }).press("Enter");
      await frame.locator("h1", { hasText: /^step$/ }).waitFor(patience);
      await openTab(frame, "Change");
      const row = frame.locator("[data-section=changes] tbody tr").first();
      const shown = await until("the row of the function", async () => (await row.count()) === 1 && panelText(row));
      for (const text of ["step", duration(difference.mean.base_ns), duration(difference.mean.recording_ns), "↓ faster"]) assert.ok(shown.includes(text), `${text} in ${shown}`);
      assert.ok((await panelText(frame.locator("[data-section=change]"))).includes("p99"));
      await frame.locator("[data-section=compared] canvas").waitFor(patience);
      assert.deepEqual(await violationsInPanel(page), [], "Change");
      for (const [name, media, selector] of looks) {
        await page.emulateMedia(media);
        await page.locator(`.monaco-workbench${selector}`).waitFor(patience);
        assert.deepEqual(await violationsInPanel(page, ["color-contrast"]), [], `Change, ${name}`);
        for (const [width, viewport] of [["narrow", 1000], ["wide", 1600]]) {
          await page.setViewportSize({ width: viewport, height: 1000 });
          await shot(`panel-change-${name}-${width}`);
        }
      }
      await goTo(page, report.function.line);
      await shot("baseline-dark");
      await runCommand(page, "PT Lens: Show Recording");
      await pick(page, project.base);
      await runCommand(page, "PT Lens: Compare with This Recording");
      await pick(page, project.recording);
      await until("the other way round it is more", async () => (await lensTexts(page)).some((text) => /^\(old binary\) slower \+[\d,]+ %/.test(text)));
      await until("lines as well", async () => (await textsOf(page)).filter((text) => / ↑ \+[\d,]+ %/.test(text)).length >= 2);
      await runCommand(page, "PT Lens: Show Recording");
      await pick(page, project.recording);
      await until("compared with nothing", async () => (await lensTexts(page)).some((text) => /^[<\d]/.test(text)));
    },
    page,
  );

  await test(
    "light and high-contrast themes show the same",
    async () => {
      await runCommand(page, "PT Lens: Show Flame Graph");
      await panelFrame(page).locator("td").getByRole("button", { name: "step", exact: true }).press("Enter");
      await openTab(panelFrame(page), "Overview");
      const theme = async (media, selector) => {
        await page.emulateMedia(media);
        await page.locator(`.monaco-workbench${selector}`).waitFor(patience);
        await goTo(page, report.function.line);
        await until("line texts", async () => (await textsOf(page)).length >= 2);
        await runCommand(page, "PT Lens: Show Flame Graph");
        await panelFrame(page).locator("[data-section=histogram] canvas").waitFor(patience);
        assert.deepEqual(await violationsInPanel(page), [], selector);
        await goTo(page, report.function.line);
      };
      const bars = async (name) => {
        const bar = panelFrame(page).locator(".share .on, .share .blk").filter({ visible: true }).first();
        await bar.scrollIntoViewIfNeeded();
        const [drawn, page_] = await bar.evaluate((element) => {
          const { backgroundColor, backgroundImage } = getComputedStyle(element);
          return [`${backgroundColor} ${backgroundImage}`, getComputedStyle(document.body).backgroundColor];
        });
        assert.ok(!drawn.startsWith(`${page_} none`), `${name}: a bar in the color of the page, ${drawn}`);
        await shot(`panel-${name}`);
      };
      await theme({ colorScheme: "light" }, ".vs");
      await shot("lines-light");
      await bars("light");
      await showHover(page);
      await page.screenshot({ path: path.join(artifacts, "hover-light.png") });
      await page.keyboard.press("Escape");
      await theme({ colorScheme: "dark", forcedColors: "active" }, ".hc-black");
      await shot("lines-high-contrast");
      await bars("high-contrast");
      await theme({ colorScheme: "light", forcedColors: "active" }, ".hc-light");
      await shot("lines-high-contrast-light");
      await bars("high-contrast-light");
    },
    page,
  );
  await context.close();
  await rig.stop();
}
