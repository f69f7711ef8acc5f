// The helper's notes are recognised by their English text: each must be one that the helper writes.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { speak } from "../../extension/src/words";
import { noteText } from "../../webview/notes";

const root = path.resolve(__dirname, "../..");

/** Literals of the helper's sources, those behind each other joined, with placeholders as {}. */
function helperTexts(): string[] {
  const folder = path.join(root, "helper/src");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".cpp"));
  return sources.flatMap((name) => {
    const literals = readFileSync(path.join(folder, name), "utf8").matchAll(/"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*/g);
    return [...literals].map(([literal]) => literal.replace(/"\s*"/g, "").slice(1, -1).replace(/\{[^}]*\}/g, "{}"));
  });
}

describe("notes", () => {
  const notes = [...readFileSync(path.join(root, "webview/notes.ts"), "utf8").matchAll(/\bnoted\("([^"]+)"\)/g)].map(([, text = ""]) => text);

  it("are those that the helper writes, with values in order", () => {
    assert.ok(notes.length > 20);
    const written = new Set(helperTexts());
    assert.deepEqual(notes.filter((note) => !written.has(note.replace(/\{\d\}/g, "{}"))), []);
    for (const note of notes) {
      const indices = [...note.matchAll(/\{(\d)\}/g)].map(([, index]) => Number(index));
      assert.deepEqual(indices, indices.map((_, at) => at), note);
    }
  });

  describe("in another language", () => {
    before(() => {
      speak({
        "the program ended with status {0}": "конец: {0}",
        "none of {0} calls of {1} took longer than {2} ms: nothing was kept": "{1}: {0} ({2})",
      });
    });
    after(() => {
      speak(undefined);
    });
    it("have their values", () => {
      assert.equal(noteText("the program ended with status 3"), "конец: 3");
      assert.equal(noteText("none of 12 calls of f(int) took longer than 5.000 ms: nothing was kept"), "f(int): 12 (5.000)");
    });
    it("stay as they are where no text is known", () => {
      assert.equal(noteText("only this thread was traced, not the threads that it started"), "only this thread was traced, not the threads that it started");
      for (const text of ["", "the program ended", "none of 12 calls of f", "none of 12 calls of f took longer than 5 ms: nothing was kept."]) {
        assert.equal(noteText(text), text);
      }
    });
    it("of any length are read in one pass", () => {
      const long = `none of ${"1 calls of ".repeat(100_000)}`;
      assert.equal(noteText(long), long);
    });
  });
});
