// The entry of the tests in the extension host: runs the *.test.js files of the folder PTLENS_TEST_SUITE with Mocha.
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { environment } from "./environment";

/** VS Code calls this; a rejection makes it end with status 1. */
export async function run(): Promise<void> {
  const { default: Mocha } = await import("mocha");
  const mocha = new Mocha({ ui: "bdd", timeout: 120_000, slow: 5_000, color: false });
  const suite = path.join(__dirname, environment("PTLENS_TEST_SUITE"));
  for (const name of readdirSync(suite).filter((file) => file.endsWith(".test.js") && file.startsWith(process.env.PTLENS_TEST_ONLY ?? ""))) {
    mocha.addFile(path.join(suite, name));
  }
  const lines: string[] = [];
  const result = { passed: 0, failed: 0, lines };
  await new Promise<void>((resolve) => {
    mocha
      .run(() => {
        resolve();
      })
      .on("pass", (test) => {
        result.passed += 1;
        lines.push(`passed: ${test.fullTitle()}`);
      })
      .on("fail", (test, error: Error) => {
        result.failed += 1;
        lines.push(`FAILED: ${test.fullTitle()}`, error.stack ?? error.message);
      });
  });
  writeFileSync(environment("PTLENS_TEST_RESULT"), JSON.stringify(result));
  if (result.failed > 0) throw new Error(`${String(result.failed)} failed`);
}
