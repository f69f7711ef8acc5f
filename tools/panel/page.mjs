// The panel's own script in a real browser, on the answers of a real helper. What VS Code adds between both is left out: the
// extension passes messages on.
import { readFileSync } from "node:fs";
import { launch } from "../../test/editor/browser.mjs";
import { at } from "../steps.mjs";

const origin = "http://panel.invalid/"; // answered from out/, never looked up

// What extension/src/panel/panel-html.ts makes, in the colors of a dark theme.
const html = `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <style>:root {
    --vscode-editor-background: #1f1f1f; --vscode-foreground: #ccc; --vscode-descriptionForeground: #9d9d9d;
    --vscode-panel-border: #2b2b2b; --vscode-editor-font-family: monospace; --vscode-font-family: sans-serif;
    --vscode-textLink-foreground: #4daafc;
  }</style>
  <link rel="stylesheet" href="webview.css">
</head>
<body class="vscode-dark">
  <div id="panel"></div>
  <script type="application/json" id="translations">{}</script>
  <script src="webview.js"></script>
</body>
</html>`;

const types = { js: "text/javascript", css: "text/css", ttf: "font/ttf" };

/** Shows the panel about a recording that `client` has open. */
export class PanelPage {
  #browser;
  #page;

  static async open(client, id) {
    const shown = new PanelPage();
    shown.#browser = await launch();
    const page = await shown.#browser.newPage({ viewport: { width: 1200, height: 900 } });
    shown.#page = page;
    await page.route(`${origin}**`, (route) => {
      const name = new URL(route.request().url()).pathname.slice(1);
      if (name === "") return route.fulfill({ contentType: "text/html", body: html });
      return route.fulfill({ contentType: types[name.split(".").at(-1)] ?? "text/plain", body: readFileSync(at("out", name)) });
    });
    await page.exposeFunction("toExtension", async (message) => {
      if (message.type !== "ask") return;
      const answer = { type: "answer", ask: message.ask, result: await client.ask(message.method, { ...message.params, id }) };
      await shown.post(answer);
    });
    await page.addInitScript(() => {
      globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => void globalThis.toExtension(message), getState: () => undefined, setState: () => undefined });
    });
    await page.goto(origin);
    return shown;
  }

  /** Sends a message as the extension does. */
  post(message) {
    return this.#page.evaluate((each) => { globalThis.postMessage(each, "*"); }, message);
  }

  /** Sends a message. Resolves to the milliseconds until the flame graph was painted with the frames that it leads to. */
  async untilFlame(message) {
    return this.#page.evaluate(
      (each) =>
        new Promise((resolve) => {
          const begin = performance.now();
          const painted = () => {
            // The frames are in the document: the next frame paints them, the one after it begins when that is done.
            if (document.querySelectorAll("g.frame").length > 1) requestAnimationFrame(() => { requestAnimationFrame(() => { resolve(performance.now() - begin); }); });
            else requestAnimationFrame(painted);
          };
          globalThis.postMessage(each, "*");
          requestAnimationFrame(painted);
        }),
      message,
    );
  }

  frames() {
    return this.#page.locator("g.frame").count();
  }

  /**
   * Zooms into the widest frames of one stack and out again, `depth` steps each. Resolves to the drawn and the dropped frames of
   * the browser's trace, and to the milliseconds of its longest task in the page.
   */
  async zoom(depth) {
    const page = this.#page;
    await this.#browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline.frame", "toplevel", "disabled-by-default-devtools.timeline"] });
    for (let step = 0; step < depth; step++) {
      await page.evaluate(() => {
        const width = (frame) => frame.getBoundingClientRect().width;
        const [, ...inner] = [...document.querySelectorAll("g.frame")].sort((one, other) => width(other) - width(one));
        const next = inner.find((frame) => frame.querySelector("rect") !== null && !frame.classList.contains("root") && !frame.classList.contains("smaller"));
        next?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      });
      await page.waitForTimeout(400);
    }
    const [deepest] = await page.locator("g.frame.root").allTextContents();
    for (let step = 0; step < depth; step++) {
      await page.locator(".graph").press("Escape");
      await page.waitForTimeout(400);
    }
    const trace = JSON.parse((await this.#browser.stopTracing()).toString("utf8")).traceEvents;
    return { ...countsOf(trace), deepest };
  }

  async end() {
    await this.#browser?.close();
  }
}

// Durations in traces are in microseconds.
function countsOf(events) {
  const page = events.find(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const named = (wanted) => events.filter(({ name }) => name === wanted).length;
  const tasks = events.filter(({ name, ph, tid, pid }) => ph === "X" && tid === page?.tid && pid === page?.pid && /RunTask/.test(name)).map(({ dur }) => dur / 1000);
  return { drawn: named("DrawFrame"), dropped: named("DroppedFrame"), longest: Math.max(0, ...tasks), names: events.reduce((all, { name }) => ({ ...all, [name]: (all[name] ?? 0) + 1 }), {}) };
}
