// Makes the screenshots of README: the way from a right-click to the sentence that names the lock's holder. Measures the
// sample in test/samples/causes with probes, as a user would. Run it as root: node test/editor/screenshots.mjs
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { launch } from "./browser.mjs";
import { build, buildReady } from "./live.mjs";
import { projectRoot, startRig } from "./rig.mjs";
import { goToLine, newPage, openTab, panelFrame, patience, startPatience, until } from "./workbench/page.mjs";

const images = path.join(projectRoot, "extension", "media", "way");
const scratch = mkdtempSync(path.join(os.tmpdir(), "ptlens-screenshots-"));
const folder = path.join(scratch, "orders");
const source = path.join(folder, "causes.c");
const program = path.join(folder, "causes");
const stops = [() => rmSync(scratch, { recursive: true, force: true })];

async function main() {
  if (!buildReady()) build();
  mkdirSync(images, { recursive: true });
  mkdirSync(folder);
  cpSync(path.join(projectRoot, "test", "samples", "causes", "causes.c"), source);
  execFileSync("gcc", ["-g", "-O1", "-pthread", "-o", program, source]);
  // Enough calls for as long as the screenshots take; one in 40 is slow.
  const child = spawn(program, ["lock", "2000000000", "40", "400", path.join(scratch, "data"), path.join(scratch, "truth.json")], { stdio: "ignore" });
  stops.push(() => child.kill());
  const rig = await startRig({
    folder,
    file: source,
    settings: { "ptlens.duration": 2, "ptlens.probeBudget": 100 },
    environment: { PTLENS_HELPER: process.env.PTLENS_HELPER },
  });
  stops.push(() => rig.stop());
  const browser = await launch();
  stops.push(() => browser.close());
  const { page } = await newPage(browser, images);
  await page.setViewportSize({ width: 1360, height: 880 });
  const frame = panelFrame(page);
  const encoder = await browser.newPage();
  const shot = async (name) => {
    await page.waitForTimeout(700);
    const picture = (await page.screenshot()).toString("base64");
    const encoded = await encoder.evaluate(async (png) => {
      const image = await globalThis.createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
      const canvas = globalThis.document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", 0.86).split(",")[1];
    }, picture);
    writeFileSync(path.join(images, `${name}.webp`), Buffer.from(encoded, "base64"));
  };

  await page.goto(rig.url, { waitUntil: "commit", ...startPatience });
  await page.locator(".monaco-editor .view-line").first().waitFor(startPatience);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator(".monaco-workbench.vs-dark").waitFor(patience);
  await page.keyboard.press("Control+b");
  await goToLine(page, 112, "causes.c");
  const word = page.locator(".view-lines .view-line span", { hasText: /^work$/ }).first();
  const box = await until("the function's name", () => word.boundingBox({ timeout: 5000 }));
  await page.mouse.click(box.x + box.width - 4, box.y + box.height / 2, { button: "right" });
  const measure = page.getByRole("menuitem", { name: "Measure Latency" });
  await measure.waitFor(patience);
  await measure.hover();
  await shot("1-measure");

  await measure.click();
  await page.locator(".quick-input-list .monaco-list-row").first().waitFor(patience);
  await page.keyboard.type(String(child.pid));
  const active = page.locator(".quick-input-list .monaco-list-row.focused");
  await until("the process", async () => (await active.textContent())?.includes(String(child.pid)));
  await shot("2-process");

  await page.keyboard.press("Enter");
  await frame.locator(".answer", { hasText: "hold_table" }).waitFor(patience);
  await frame.locator("[data-section=histogram] canvas").waitFor(patience);
  await page.locator(".notifications-toasts .codicon-notifications-clear, .notification-toast .codicon-close").first().click({ timeout: 1000 }).catch(() => undefined);
  await page.mouse.move(24, 600);
  await shot("3-answer");

  await openTab(frame, "Why slow");
  await frame.locator("[data-section=waits]").waitFor(patience);
  await page.mouse.move(24, 600);
  await shot("4-why-slow");

  await frame.getByRole("button", { name: "Show an example call" }).first().click();
  await frame.locator(".timeline .part").waitFor(patience);
  await page.mouse.move(24, 600);
  await shot("5-timeline");
}

try {
  await main();
} finally {
  for (const stop of stops.reverse()) await stop();
}
process.exit();
