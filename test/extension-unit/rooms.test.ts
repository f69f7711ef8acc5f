// The folders of extension/src depend on each other in one direction, and no file depends on itself through others.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const source = path.resolve(__dirname, "../../extension/src");

/** Each folder may use the folders before it. The file extension.ts, at the top, may use all. */
const rooms = [
  "protocol",
  "base",
  "source",
  "errors",
  "helper",
  "machine",
  "recordings",
  "status",
  "functions",
  "panel",
  "annotations",
  "targets",
  "measure",
  "api",
];

function imports(file: string): string[] {
  const text = readFileSync(path.join(source, file), "utf8");
  return [...text.matchAll(/(?:from|import) "(\.[^"]+)"/g)].map(([, target = ""]) => `${path.join(path.dirname(file), target)}.ts`);
}

const roomOf = (file: string): number => (file.includes("/") ? rooms.indexOf(path.dirname(file)) : rooms.length);

describe("the folders of the extension", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

  it("are all in the order above", () => {
    assert.deepEqual(files.filter((file) => roomOf(file) < 0), []);
  });

  it("use only folders before themselves", () => {
    const upward = files.flatMap((file) => imports(file).filter((target) => roomOf(target) > roomOf(file)).map((target) => `${file} uses ${target}`));
    assert.deepEqual(upward, []);
  });

  it("have no cycle of files", () => {
    const finished = new Set<string>();
    const visit = (file: string, chain: readonly string[]): void => {
      assert.ok(!chain.includes(file), [...chain, file].join(" uses "));
      if (finished.has(file)) return;
      for (const target of imports(file)) visit(target, [...chain, file]);
      finished.add(file);
    };
    for (const file of files) visit(file, []);
  });
});
