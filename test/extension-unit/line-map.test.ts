import { strict as assert } from "node:assert";
import { LineMap } from "../../extension/src/line-map";

/** A document whose lines carry their own origin: what a map must agree with. */
class Text {
  readonly map = new LineMap();
  constructor(public text: string) {}

  edit(startLine: number, startCharacter: number, endLine: number, endCharacter: number, inserted: string): void {
    const lines = this.text.split("\n");
    const head = [...lines.slice(0, startLine), (lines[startLine] ?? "").slice(0, startCharacter)].join("\n");
    const tail = [(lines[endLine] ?? "").slice(endCharacter), ...lines.slice(endLine + 1)].join("\n");
    this.text = head + inserted + tail;
    this.map.apply({
      startLine,
      startCharacter,
      endLine,
      endCharacter,
      newBreaks: inserted.split("\n").length - 1,
      endsInBreak: inserted.endsWith("\n"),
    });
  }

  line(measured: number): string | undefined {
    const present = this.map.present(measured);
    return present === undefined ? undefined : this.text.split("\n")[present];
  }
}

const original = "zero\none\ntwo\nthree\nfour";

describe("LineMap", () => {
  it("is the identity without edits", () => {
    assert.equal(new LineMap().present(7), 7);
    assert.ok(new LineMap().unchanged);
  });
  it("ignores edits inside a line", () => {
    const text = new Text(original);
    text.edit(2, 0, 2, 3, "TWO");
    assert.ok(text.map.unchanged);
    assert.equal(text.line(2), "TWO");
  });
  it("moves the lines below a break", () => {
    const text = new Text(original);
    text.edit(1, 3, 1, 3, "\nnew");
    assert.equal(text.line(1), "one");
    assert.equal(text.line(2), "two");
    assert.equal(text.line(4), "four");
    assert.equal(text.map.measured(2), undefined);
    assert.equal(text.map.measured(3), 2);
  });
  it("moves a line that a whole line is inserted before", () => {
    const text = new Text(original);
    text.edit(2, 0, 2, 0, "// a\n// b\n");
    assert.equal(text.line(1), "one");
    assert.equal(text.line(2), "two");
    assert.equal(text.map.present(2), 4);
    assert.equal(text.map.measured(3), undefined);
    assert.equal(text.map.measured(1), 1);
  });
  it("drops removed lines and keeps the others", () => {
    const text = new Text(original);
    text.edit(1, 0, 3, 0, "");
    assert.equal(text.line(0), "zero");
    assert.equal(text.line(1), undefined);
    assert.equal(text.line(2), undefined);
    assert.equal(text.line(3), "three");
    assert.equal(text.map.measured(1), 3);
  });
  it("follows several edits", () => {
    const text = new Text(original);
    text.edit(4, 0, 4, 0, "x\n");
    text.edit(0, 4, 1, 3, "");
    text.edit(0, 0, 0, 0, "\n\n");
    assert.equal(text.line(0), "zero");
    assert.equal(text.line(1), undefined);
    for (const [measured, content] of [[2, "two"], [3, "three"], [4, "four"]] as const) {
      assert.equal(text.line(measured), content);
      assert.equal(text.map.measured(text.map.present(measured) ?? -1), measured);
    }
  });
});
