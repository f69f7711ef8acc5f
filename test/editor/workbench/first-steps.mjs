// The walkthrough from the check of the machine to the first result, and the status bar item.
import assert from "node:assert/strict";
import { ask } from "../live.mjs";
import { lensTexts, newPage, patience, runCommand, showSource, until } from "./page.mjs";

export async function firstStepsTests({ browser, rig, artifacts, test }) {
  const { context, page, shot } = await newPage(browser, artifacts);
  const step = (name) => page.locator(".getting-started-step", { hasText: name });
  const done = (name) => until(`${name} is done`, async () => (await step(name).locator(".codicon-getting-started-step-checked").count()) > 0);
  const open = async () => {
    await page.locator(".tab", { hasText: "order_server.cpp" }).first().click(); // a webview does not pass keys on
    await runCommand(page, "PT Lens: Get Started");
  };
  const { backend } = ask("doctor");

  await test(
    "the walkthrough has four open steps",
    async () => {
      await showSource(page, rig.url);
      await open();
      for (const name of ["Check your machine", "Grant permissions", "Measure the sample program", "Read the result"]) await step(name).first().waitFor(patience);
      assert.equal(await page.locator(".getting-started-step .codicon-getting-started-step-checked").count(), 0);
      await shot("walkthrough-dark");
    },
    page,
  );

  await test(
    "checking the machine completes its step, and the permissions step if no permission is missing",
    async () => {
      await page.getByRole("button", { name: "Check This Machine" }).first().click();
      await until("the document", async () => (await page.locator(".tab", { hasText: "this machine" }).count()) > 0);
      await open();
      await done("Check your machine");
      if (backend !== "none") await done("Grant permissions");
    },
    page,
  );

  await test(
    "the sample is built, measured and shown",
    async () => {
      await page.locator(".tab", { hasText: "order_server.cpp" }).first().click();
      await runCommand(page, "PT Lens: Measure Sample Program");
      await page.locator(".tab", { hasText: "order_server.cpp" }).first().waitFor(patience);
      await until("a lens with figures", async () => (await lensTexts(page)).some((text) => text.includes(" typical")));
      await shot("sample-measured");
      await open();
      await done("Measure the sample program");
    },
    page,
  );

  await test(
    "the status bar item shows the backend, and a click shows the actions",
    async () => {
      const item = page.locator(".statusbar-item", { hasText: "PT Lens" });
      await until("the backend", async () => (await item.textContent()).includes(backend === "uprobe" ? "probes" : "Intel PT"));
      // The list closes when something else takes the focus, as a window that is still opening does.
      await until("the actions", async () => {
        await item.click();
        for (const name of ["Measure Again", "Show Flame Graph", "Check This Machine", "Restart Helper", "Show Log"]) {
          await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).waitFor({ timeout: 5000 });
        }
        return true;
      });
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
