// The first five minutes: the walkthrough from the machine to the first result, and the status item.
import assert from "node:assert/strict";
import { ask } from "../live.mjs";
import { lensTexts, newPage, patience, runCommand, showSource, until } from "./page.mjs";

export async function firstStepsTests({ browser, rig, artifacts, test }) {
  const { context, page, shot } = await newPage(browser, artifacts);
  const step = (name) => page.locator(".getting-started-step", { hasText: name });
  const done = (name) => until(`${name} is done`, async () => (await step(name).locator(".codicon-getting-started-step-checked").count()) > 0);
  const open = async () => {
    await page.locator(".tab", { hasText: "order_server.cpp" }).first().click(); // a webview keeps the keys to itself
    await runCommand(page, "PT Lens: First Steps");
  };
  const { backend } = ask("doctor");

  await test(
    "the walkthrough has four steps, and none is done",
    async () => {
      await showSource(page, rig.url);
      await open();
      for (const name of ["Check the machine", "Grant rights", "Measure the sample", "Read the result"]) await step(name).first().waitFor(patience);
      assert.equal(await page.locator(".getting-started-step .codicon-getting-started-step-checked").count(), 0);
      await shot("walkthrough-dark");
    },
    page,
  );

  await test(
    "checking the machine does its step, and that of the rights where nothing is lacking",
    async () => {
      await page.getByRole("button", { name: "Check This Machine" }).first().click();
      await until("the document", async () => (await page.locator(".tab", { hasText: "this machine" }).count()) > 0);
      await open();
      await done("Check the machine");
      if (backend !== "none") await done("Grant rights");
    },
    page,
  );

  await test(
    "the sample is built, measured and shown",
    async () => {
      await page.locator(".tab", { hasText: "order_server.cpp" }).first().click();
      await runCommand(page, "PT Lens: Measure the Sample Program");
      await page.locator(".tab", { hasText: "order_server.cpp" }).first().waitFor(patience);
      await until("a lens with figures", async () => (await lensTexts(page)).some((text) => text.includes("mean")));
      await shot("sample-measured");
      await open();
      await done("Measure the sample");
    },
    page,
  );

  await test(
    "the status item says the backend, and a click offers what can be done",
    async () => {
      const item = page.locator(".statusbar-item", { hasText: "PT Lens" });
      await until("the backend", async () => (await item.textContent()).includes(backend === "uprobe" ? "probes" : "Intel PT"));
      await item.click();
      for (const name of ["Measure Again", "Show Flame Graph", "Check This Machine", "Restart Helper", "Show Log"]) {
        await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).waitFor(patience);
      }
      await page.keyboard.press("Escape");
      await open();
      await page.getByRole("button", { name: "Show Flame Graph" }).first().click();
      await done("Read the result");
      await shot("walkthrough-done");
    },
    page,
  );
  await context.close();
}
