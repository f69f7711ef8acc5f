// Where the lines of a measured file are now: figures belong to the lines as they were when the
// results were shown, and edits since then move, merge or remove those.

/** A change of text: lines startLine to endLine (0-based, both touched) became `lines` lines. */
export interface LineChange {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  /** Line breaks in the new text. */
  readonly newBreaks: number;
  /** Whether the new text ends in a line break. */
  readonly endsInBreak: boolean;
}

/** Maps 0-based lines of the measured text to the present ones. */
export class LineMap {
  readonly #changes: LineChange[] = [];

  get unchanged(): boolean {
    return this.#changes.length === 0;
  }

  apply(change: LineChange): void {
    if (change.startLine === change.endLine && change.newBreaks === 0) return;
    this.#changes.push(change);
  }

  /** The line now; nothing when it was removed. */
  present(measured: number): number | undefined {
    let line = measured;
    for (const change of this.#changes) {
      const moved = forward(line, change);
      if (moved === undefined) return undefined;
      line = moved;
    }
    return line;
  }

  /** The line as it was measured; nothing when it is new. */
  measured(present: number): number | undefined {
    let line = present;
    for (let i = this.#changes.length - 1; i >= 0; i -= 1) {
      const change = this.#changes[i];
      if (change === undefined) continue;
      const moved = backward(line, change);
      if (moved === undefined) return undefined;
      line = moved;
    }
    return line;
  }
}

function shift(change: LineChange): number {
  return change.newBreaks - (change.endLine - change.startLine);
}

/** An insertion or removal of whole lines before `startLine` leaves that line itself intact. */
function keepsLastLine(change: LineChange): boolean {
  return change.startCharacter === 0 && change.endCharacter === 0 && (change.newBreaks === 0 || change.endsInBreak);
}

function forward(line: number, change: LineChange): number | undefined {
  if (keepsLastLine(change)) {
    if (line < change.startLine) return line;
    return line >= change.endLine ? line + shift(change) : undefined;
  }
  if (line <= change.startLine) return line;
  return line > change.endLine ? line + shift(change) : undefined;
}

function backward(line: number, change: LineChange): number | undefined {
  if (keepsLastLine(change)) {
    if (line < change.startLine) return line;
    return line >= change.startLine + change.newBreaks ? line - shift(change) : undefined;
  }
  if (line <= change.startLine) return line;
  return line > change.startLine + change.newBreaks ? line - shift(change) : undefined;
}
