// The panel's own page in a browser, with the helper behind it: how long the first flame graph takes until it is drawn, and
// what the browser's trace says of zooming into it. A server on this machine takes the place of VS Code.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { json } from "node:stream/consumers";
import { at, StepError } from "../steps.mjs";
import { launch } from "../../test/editor/browser.mjs";

const zooms = 5; // into the widest frame, and out again
const keysOfZooms = [...Array(zooms).fill(["ArrowDown", "ArrowDown", "Enter"]), ...Array(zooms).fill(["Escape"])];
const viewport = { width: 1280, height: 900 };
const pauseAfterZoom = 300; // ms
const rounds = 5; // of all zooms, each followed by the same keys in an empty page
const frameTime = 1e6 / 60; // us
const leastPart = 0.0005; // of the full graph's time that a frame has

// Without the colors of a theme, a canvas stays black.
const theme = {
  "editor-background": "#1f1f1f", foreground: "#cccccc", descriptionForeground: "#9d9d9d", "panel-border": "#2b2b2b",
  "editor-font-family": "monospace", "font-family": "sans-serif", "textLink-foreground": "#4daafc", focusBorder: "#0078d4",
};
const colors = Object.entries(theme).map(([name, value]) => `--vscode-${name}: ${value};`).join(" ");
const html = `<!DOCTYPE html>
<html lang="en" style="${colors}">
<head><meta charset="utf-8"><link rel="stylesheet" href="webview.css"></head>
<body><div id="panel"></div><script type="application/json" id="translations">{}</script><script src="webview.js"></script></body>
</html>`;
const types = { ".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf" };

/**
 * Returns the answer to ptlens/flame of a graph with as many frames as there is room for: each frame has two to four callees, down to
 * `smallest` of the whole; smaller ones are merged. `known` is an answer to ptlens/functions, which names the functions.
 */
export function fullGraph({ recording, functions }, { time_kind: time, smallest = 0.002 }) {
  const [ns, levels] = time === "wall" ? [1e9, 60] : [0, 0];
  const nodes = { parent: [-1], function: [-1], inclusive: [ns], self: [0], calls: [1], smaller: [0], smaller_nodes: [0] };
  let seed = 1;
  const random = () => {
    seed = (seed * 16807) % 2147483647; // Park and Miller, "Random number generators: good ones are hard to find"
    return seed / 2147483647;
  };
  for (let node = 0, depths = [0]; node < nodes.parent.length; node++) {
    const callees = depths[node] < levels ? 2 + Math.floor(3 * random()) : 0;
    let rest = nodes.inclusive[node];
    for (let callee = 0; callee < callees; callee++) {
      const part = Math.floor(rest * (callee + 1 < callees ? random() ** 2 : 0.98));
      if (part < leastPart * ns) continue;
      rest -= part;
      if (part < smallest * ns) {
        nodes.smaller[node] += part;
        nodes.smaller_nodes[node]++;
        continue;
      }
      depths.push(depths[node] + 1);
      nodes.parent.push(node);
      nodes.function.push(nodes.function.length % functions.length);
      nodes.inclusive.push(part);
      nodes.calls.push(1);
      nodes.smaller.push(0);
      nodes.smaller_nodes.push(0);
    }
    nodes.self[node] = rest + nodes.smaller[node];
  }
  return { recording, time, functions: functions.map(({ name, binary, address }) => ({ name, binary, address, file: "", line: 0 })), nodes };
}

// Answers a message of the page as the extension does: the overview, then each request about the recording.
async function answerTo(request, message) {
  if (message.type === "ready") return { type: "overview", functions: await request("ptlens/functions", {}) };
  if (message.type !== "ask") return null;
  const { ask, method, params } = message;
  return request(method, params).then(
    (result) => ({ type: "answer", ask, result }),
    (error) => ({ type: "answer", ask, failure: error.message }),
  );
}

async function respond(ask, request, response) {
  if (request.method === "POST") {
    response.end(JSON.stringify(await answerTo(ask, await json(request))));
    return;
  }
  const name = path.basename(request.url);
  const type = types[path.extname(name)];
  if (name === "") response.setHeader("Content-Type", "text/html").end(html);
  else if (type === undefined) response.writeHead(404).end();
  else response.setHeader("Content-Type", type).end(readFileSync(at("out", name)));
}

// In the page: what VS Code offers to a webview. `bench` says what is going on. Another thread asks the server and reads its
// answers, as in VS Code, whose messages then pass through a frame around the page.
function offerApi() {
  const { performance, Blob, URL, Worker } = globalThis;
  const bench = { pending: 0, flameAsked: undefined };
  globalThis.bench = bench;
  const asks = "onmessage = async ({ data: [url, message] }) => { postMessage(await (await fetch(url, { method: 'POST', body: JSON.stringify(message) })).json()); };";
  const worker = new Worker(URL.createObjectURL(new Blob([asks], { type: "text/javascript" })));
  worker.onmessage = ({ data: answer }) => {
    if (answer !== null) globalThis.postMessage(answer);
    bench.pending--;
  };
  let state;
  globalThis.acquireVsCodeApi = () => ({
    getState: () => state,
    setState: (next) => { state = next; },
    postMessage: (message) => {
      bench.pending++;
      if (message.method === "ptlens/flame") bench.flameAsked ??= performance.now();
      worker.postMessage([globalThis.location.href, message]);
    },
  });
}

// In the page: waits until frames are drawn and the browser has shown them. Returns the time.
async function untilDrawn() {
  const { document, requestAnimationFrame, performance } = globalThis;
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  while (!(Number(document.querySelector(".graph")?.dataset.frames) > 1)) await frame();
  await frame();
  await frame();
  return { drawn: performance.now(), flameAsked: globalThis.bench.flameAsked };
}

// In the page: waits until everything that was asked has been answered and drawn.
async function untilQuiet() {
  const pause = (ms) => new Promise((resolve) => { globalThis.setTimeout(resolve, ms); });
  do await pause(300);
  while (globalThis.bench.pending > 0);
}

const framesDrawn = () => Number(globalThis.document.querySelector(".graph").dataset.frames);

// Counts what the browser's trace contains: frames shown and dropped, and the longest task of a main thread, ms. A dropped frame is
// `slow` unless the key or the answer that needs it came after it began: then the next frame shows that, as in an empty page.
function summaryOf(trace) {
  const { traceEvents } = JSON.parse(trace.toString("utf8"));
  const named = (name) => traceEvents.filter((event) => event.name === name);
  const drawing = new Set(named("Paint").map(({ tid }) => tid)); // threads of pages, not of workers
  const work = [...named("EventDispatch").filter(({ args }) => args.data.type === "keydown"), ...named("HandlePostMessage").filter(({ tid }) => drawing.has(tid))];
  const began = (from, to) => work.some(({ ts }) => from <= ts && ts < to);
  const dropped = named("DroppedFrame");
  const slow = dropped.filter(({ ts }) => began(ts - frameTime, ts) || !began(ts, ts + frameTime));
  const tasks = named("RunTask").filter(({ dur }) => dur !== undefined);
  return { shown: named("DrawFrame").length, dropped: dropped.length, slow: slow.length, longest: tasks.reduce((most, { dur }) => Math.max(most, dur / 1000), 0) };
}

const categories = ["devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"];

// Returns what the browser's trace says of the gestures.
async function traced(browser, page, gestures) {
  await browser.startTracing(page, { categories });
  await gestures(page);
  return summaryOf(await browser.stopTracing());
}

// Opens the widest callee of the root by the keyboard, so often, and goes back. Calls `settle` after each zoom.
async function zoomInAndOut(page, settle) {
  for (const keys of keysOfZooms) {
    for (const key of keys) await page.keyboard.press(key);
    await settle();
  }
}

async function zoomInPanel(page) {
  await page.locator(".graph").focus();
  await zoomInAndOut(page, () => page.evaluate(untilQuiet));
}

// In a page that does nothing but fill a canvas at each key. What is dropped here, the browser and this machine drop by themselves:
// a key that comes late in a frame is shown with the next one.
async function zoomInEmptyPage(page) {
  await page.setContent('<canvas tabindex="0" width="1200" height="800"></canvas>');
  await page.evaluate(() => {
    const canvas = globalThis.document.querySelector("canvas");
    let keys = 0;
    canvas.addEventListener("keydown", () => {
      const context = canvas.getContext("2d");
      context.fillStyle = keys++ % 2 === 0 ? "teal" : "olive";
      context.fillRect(0, 0, canvas.width, canvas.height);
    });
  });
  await page.locator("canvas").focus();
  await zoomInAndOut(page, () => page.waitForTimeout(pauseAfterZoom));
}

// Returns the milliseconds from opening the panel, and from asking for the flame graph, until that is drawn, and what the trace
// says of zooming in and out, and of the same keys in an empty page. `ask` answers a request about the recording.
export async function drawing(ask) {
  const server = createServer((request, response) => void respond(ask, request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport });
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.addInitScript(offerApi);
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const { drawn, flameAsked } = await page.evaluate(untilDrawn);
    await page.evaluate(untilQuiet);
    const frames = await page.evaluate(framesDrawn);
    const [traces, empty] = [[], []];
    for (let round = 0; round < rounds; round++) {
      await page.bringToFront();
      traces.push(await traced(browser, page, zoomInPanel));
      const other = await browser.newPage({ viewport });
      empty.push(await traced(browser, other, zoomInEmptyPage));
      await other.close();
    }
    if (errors.length > 0) throw new StepError(`the panel failed: ${errors.join(", ")}`);
    return { opening: drawn, flame: drawn - flameAsked, frames, zooms: zooms * rounds, traces, empty };
  } finally {
    await browser.close();
    server.close();
  }
}
