// Actions and queries of the workbench tests.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ask, probesOf, sampleSource } from "../live.mjs";
import { projectRoot } from "../rig.mjs";

export const patience = { timeout: 120_000 };
export const startPatience = { timeout: 300_000 }; // VS Code's own start, on a machine that is busy

/** Three significant digits; exact ties go to the even digit. */
export function duration(ns) {
  if (Number.isInteger(ns) && ns < 1000) return `${ns} ns`;
  const power = Math.min(3, Math.floor(Math.log10(Number(ns.toPrecision(3))) / 3));
  const digits = { minimumSignificantDigits: 3, maximumSignificantDigits: 3, roundingMode: "halfEven" };
  return `${(ns / 1000 ** power).toLocaleString("en-US", digits)} ${["ns", "µs", "ms", "s"][power]}`;
}

/** A duration with its uncertainty, by the rule of the documentation. */
export function figure(ns, uncertainty = 0) {
  if (uncertainty > 0 && uncertainty >= ns) return `< ${duration(ns + uncertainty)}`;
  return uncertainty > 0 && uncertainty * 20 >= ns ? `${duration(ns)} ± ${duration(uncertainty)}` : duration(ns);
}

/** A figure of a latency, such as p50. */
export const latencyFigure = (latency, name) => figure(latency[name], latency.uncertainty?.[name] ?? (name === "total" ? 0 : latency.resolution));

/** A figure of a latency as a table of the panel shows it: without its uncertainty, or only a limit. */
export function briefFigure(latency, name) {
  const uncertainty = latency.uncertainty?.[name] ?? (name === "total" ? 0 : latency.resolution);
  return uncertainty > 0 && uncertainty >= latency[name] ? figure(latency[name], uncertainty) : duration(latency[name]);
}

/** The text of an element of the panel, hidden parts included, with plain spaces. */
export const panelText = async (locator) => (await locator.textContent()).replaceAll("\u00a0", " ");

/** Chooses a tab of the panel. */
export async function openTab(frame, name) {
  await frame.getByRole("tab", { name }).click();
  await frame.locator('[role=tab][aria-selected="true"]', { hasText: name }).waitFor(patience);
}

/** A figure without its uncertainty, as in lenses and at the ends of lines. */
export const brief = (text) => text.replace(/ ± .*$/, "");

/** A share, percent, as at the end of a line. */
export const lineShare = (percent) => (percent >= 99.95 ? "100 %" : `${Math.min(percent, 100).toFixed(1)} %`);

/** Returns the text at the end of a line without its bar and the spaces that align it. */
export const withoutBar = (text) => text.replace(/[━╸╍]/g, "").replace(/ +/g, " ").trim();

export const count = (number) => number.toLocaleString("en-US");

const sourceLines = readFileSync(sampleSource, "utf8").split("\n");

/** 1-based line of a function's definition in the sample. */
export function definedAt(name) {
  return 1 + sourceLines.findIndex((line) => /^(OWN_FUNCTION|int main)/.test(line) && line.includes(` ${name}(`));
}

export async function until(what, probe) {
  const deadline = Date.now() + patience.timeout;
  let last;
  while (Date.now() < deadline) {
    try {
      last = await probe();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what}: timed out after ${patience.timeout / 1000} s (${last})`);
}

/** Returns the texts at the ends of the visible lines. */
export const lineTexts = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".view-lines .view-line span")]
      .map((element) => getComputedStyle(element, "::after").content)
      .filter((content) => content.startsWith('"') && content.length > 2)
      .map((content) => JSON.parse(content).replaceAll("\u00a0", " ")),
  );

export const lensTexts = async (page) =>
  (await page.locator(".codelens-decoration").allTextContents()).map((text) => text.replaceAll("\u00a0", " "));

/** Opens the quick input with a key and types into it. Retries if the panel takes the focus and the input closes. */
async function writeInQuickInput(page, key, text, isReady) {
  const input = page.locator(".quick-input-widget input");
  await until(`the quick input takes ${text}`, async () => {
    await page.keyboard.press(key);
    await input.fill(text, { timeout: 5000 });
    await isReady();
    return true;
  });
}

/** Moves the cursor to a line of an open file. */
export async function goToLine(page, line, file = path.basename(sampleSource)) {
  await until(`line ${line} of ${file}`, async () => {
    await page.locator(".tab", { hasText: file }).first().click(); // out of the panel, into the source
    await writeInQuickInput(page, "Control+g", `:${line}`, async () => {});
    await page.keyboard.press("Enter");
    await page.getByText(new RegExp(`Ln ${line}, Col`)).waitFor({ timeout: 5000 });
    return true;
  });
}

/** Right-clicks a word in the editor. */
export async function openContextMenu(page, word) {
  const span = page.locator(".view-lines .view-line span", { hasText: new RegExp(`^\\s*${word}$`) }).first();
  // VS Code renders the line again when the language is known.
  const box = await until(`the position of ${word} on the screen`, () => span.boundingBox({ timeout: 5000 }));
  await page.mouse.click(box.x + box.width - 4, box.y + box.height / 2, { button: "right" });
  await page.getByRole("menuitem", { name: "Measure Latency" }).waitFor(patience);
  await page.waitForTimeout(300);
}

/** Opens the submenu PT Lens of the editor's context menu. */
export async function openSubmenu(page) {
  await page.getByRole("menuitem", { name: "PT Lens" }).hover();
  await page.getByRole("menuitem", { name: "Open Recording" }).waitFor(patience);
}

export async function choose(page, item) {
  await until(`the menu's ${item}`, async () => {
    const entry = page.getByRole("menuitem", { name: item });
    if ((await entry.count()) === 0) return true;
    await entry.click({ timeout: 2000 });
    await page.waitForTimeout(200);
    return (await entry.count()) === 0;
  });
}

/** Chooses the process by its id: other tests may run other order servers. */
export async function pickSample(page, sample) {
  await page.locator(".quick-input-list .monaco-list-row").first().waitFor(patience);
  await page.keyboard.type(String(sample.pid));
  const active = page.locator(".quick-input-list .monaco-list-row.focused");
  await until("our process is chosen", async () => (await active.textContent())?.includes(String(sample.pid)));
  await page.keyboard.press("Enter");
}

/** The frames that the flame graph of the panel draws: name, whether it is the root, and place on the canvas. */
export const drawnFrames = (frame) => frame.locator(".graph canvas").evaluate((canvas) => canvas.frames);

/** Clicks the first frame of the flame graph whose name contains this. */
export async function clickFrame(frame, name, options = {}) {
  const found = (await drawnFrames(frame)).find((each) => each.name.includes(name));
  assert.ok(found, `a frame for ${name}`);
  await frame.locator(".graph canvas").click({ position: { x: (found.left + found.right) / 2, y: (found.top + found.bottom) / 2 }, ...options });
}

export const panelFrame = (page) => page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");

/** The four looks of VS Code: name, media that it follows, class of the workbench. Dark, the one that tests begin with, is the last. */
export const looks = [
  ["light", { colorScheme: "light", forcedColors: "none" }, ".vs"],
  ["high-contrast", { colorScheme: "dark", forcedColors: "active" }, ".hc-black"],
  ["high-contrast-light", { colorScheme: "light", forcedColors: "active" }, ".hc-light"],
  ["dark", { colorScheme: "dark", forcedColors: "none" }, ".vs-dark"],
];

/** Returns the serious and critical violations that axe-core finds in the panel; `rules`: by these alone. */
export async function violationsInPanel(page, rules) {
  const inner = page.frames().find((each) => each.name() === "active-frame" || each.url().includes("fake.html"));
  assert.ok(inner !== undefined, "the panel's frame");
  if (!(await inner.evaluate(() => "axe" in globalThis))) {
    await inner.evaluate(readFileSync(path.join(projectRoot, "node_modules", "axe-core", "axe.min.js"), "utf8"));
  }
  const { violations } = await inner.evaluate((values) => {
    const only = values === undefined ? {} : { runOnly: { type: "rule", values } };
    return globalThis.axe.run(document, { resultTypes: ["violations"], ...only });
  }, rules);
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** Opens a new window without stored state; `shot(name)` takes a screenshot. */
export async function newPage(browser, artifacts) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  const page = await context.newPage();
  page.setDefaultTimeout(patience.timeout);
  const shot = async (name) => {
    await page.mouse.move(24, 600); // away from elements with tooltips
    await page.waitForTimeout(700);
    await page.screenshot({ path: path.join(artifacts, `${name}.png`) });
  };
  return { context, page, shot };
}

/** Opens the window with its source, dark and without the side bar. */
export async function showSource(page, url) {
  await page.goto(url, { waitUntil: "commit", ...startPatience });
  await page.locator(".monaco-editor .view-line").first().waitFor(startPatience);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator(".monaco-workbench.vs-dark").waitFor(patience);
  await page.keyboard.press("Control+b");
  await page.locator(".monaco-editor .view-lines").first().click({ position: { x: 300, y: 10 }, force: true });
}

/** Runs a command by its title in the palette. */
export async function runCommand(page, title) {
  const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title });
  await writeInQuickInput(page, "F1", `>${title}`, () => row.waitFor({ timeout: 10_000 }));
  await page.keyboard.press("Enter");
}

/** Returns whether a process of uftrace runs, which PT Lens starts for programs where it has no Intel PT. */
function uftraceRuns() {
  return readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/comm`, "utf8") === "uftrace\n";
    } catch {
      return false;
    }
  });
}

/** Returns a function that checks whether data is being recorded. With probes, it looks for them in the kernel; with Intel PT, the progress is enough. */
export function recordingRunsIn(rig) {
  const usesProbes = ask("doctor").backend === "uprobe";
  return () => !usesProbes || probesOf(rig.scratch).length > 0 || uftraceRuns();
}
