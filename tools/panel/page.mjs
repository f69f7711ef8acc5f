// The panel's own page in a browser, with the helper behind it: how long the first flame graph takes until it is drawn, and
// what the browser's trace says of zooming into it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { at, StepError } from "../steps.mjs";
import { launch } from "../../test/editor/browser.mjs";

const address = "http://panel.invalid/";
const zooms = 5; // into the widest frame, and out again
const patience = { timeout: 60_000 };

const html = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><link rel="stylesheet" href="webview.css"></head>
<body><div id="panel"></div><script type="application/json" id="translations">{}</script><script src="webview.js"></script></body>
</html>`;
const types = { ".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf" };

function answerOf(url) {
  const name = path.basename(new URL(url).pathname);
  if (name === "") return { contentType: "text/html", body: html };
  const contentType = types[path.extname(name)];
  return contentType === undefined ? { status: 404 } : { contentType, body: readFileSync(at("out", name)) };
}

// Answers the page as the extension does: the overview, then each request about the recording.
async function toExtension(client, id, message) {
  if (message.type === "ready") return { type: "overview", functions: await client.ask("ptlens/functions", { id }) };
  if (message.type !== "ask") return undefined;
  const { ask, method, params } = message;
  return client.ask(method, { ...params, id }).then(
    (result) => ({ type: "answer", ask, result }),
    (error) => ({ type: "answer", ask, failure: error.message }),
  );
}

// In the page: what VS Code offers to a webview.
function offerApi() {
  let state;
  globalThis.acquireVsCodeApi = () => ({
    getState: () => state,
    setState: (next) => { state = next; },
    postMessage: (message) => {
      void globalThis.toExtension(message).then((answer) => {
        if (answer) globalThis.postMessage(answer);
      });
    },
  });
}

// In the page: waits until frames are drawn that are not in `before`, and the browser has shown them. Returns the time.
function untilDrawn(before) {
  return new Promise((resolve) => {
    const look = () => {
      const { document, requestAnimationFrame, performance } = globalThis;
      const drawn = [...document.querySelectorAll(".graph g.frame")].map((frame) => frame.getAttribute("aria-label")).join();
      if (drawn === "" || drawn === before) requestAnimationFrame(look);
      else requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
    };
    look();
  });
}

// In the page: what is drawn, for untilDrawn.
const drawnFrames = () => [...globalThis.document.querySelectorAll(".graph g.frame")].map((frame) => frame.getAttribute("aria-label")).join();

// In the page: a click on the widest frame below the root.
function zoomIn() {
  const width = (frame) => frame.querySelector("rect").getBoundingClientRect().width;
  const frames = [...globalThis.document.querySelectorAll(".graph g.frame:not(.root, .smaller, .blk, .lost)")];
  const widest = frames.reduce((one, other) => (one === undefined || width(other) > width(one) ? other : one), undefined);
  widest?.dispatchEvent(new globalThis.MouseEvent("click", { bubbles: true }));
  return widest !== undefined;
}

function zoomOut() {
  const { document, KeyboardEvent } = globalThis;
  document.querySelector(".graph").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
}

// Counts what the browser's trace contains: frames shown and dropped, and the longest task of the page's main thread, ms.
function summaryOf(trace) {
  const { traceEvents } = JSON.parse(trace.toString("utf8"));
  const count = (name) => traceEvents.filter((event) => event.name === name).length;
  const tasks = traceEvents.filter(({ name, dur }) => name === "RunTask" && dur !== undefined);
  return { shown: count("DrawFrame"), dropped: count("DroppedFrame"), longest: tasks.reduce((most, { dur }) => Math.max(most, dur / 1000), 0) };
}

// Returns the milliseconds of the first drawing, and what the trace says of zooming in and out.
export async function drawing(client, id) {
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(patience.timeout);
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.route(`${address}**`, (route) => route.fulfill(answerOf(route.request().url())));
    await page.exposeFunction("toExtension", (message) => toExtension(client, id, message));
    await page.addInitScript(offerApi);
    await page.goto(address);
    const first = await page.evaluate(untilDrawn, "");
    const frames = await page.locator(".graph g.frame").count();
    await page.waitForTimeout(1000);
    const categories = ["devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"];
    await browser.startTracing(page, { categories });
    for (const step of [...Array(zooms).fill(zoomIn), ...Array(zooms).fill(zoomOut)]) {
      const before = await page.evaluate(drawnFrames);
      if ((await page.evaluate(step)) === false) break;
      await page.evaluate(untilDrawn, before);
      await page.waitForTimeout(300);
    }
    const zoom = summaryOf(await browser.stopTracing());
    if (errors.length > 0) throw new StepError(`the panel failed: ${errors.join(", ")}`);
    return { first, frames, zoom };
  } finally {
    await browser.close();
  }
}
