// The helper's notes on a recording in the editor's language. They are kept with the recording, in English, and are
// recognised by their text; a note that is not known stays as it is.
import { t } from "../extension/src/words";

type Note = (text: string) => string | undefined;

/**
 * A note with its values at {0}, {1}, … in this order. In one pass over the text, whatever it holds: a recording may be
 * anyone's.
 */
const noted = (english: string): Note => {
  const [first = "", ...between] = english.split(/\{\d\}/);
  return (text) => {
    if (!text.startsWith(first)) return undefined;
    const values: string[] = [];
    let at = first.length;
    for (const [index, part] of between.entries()) {
      const last = index === between.length - 1;
      const next = last ? text.length - part.length : text.indexOf(part, at);
      if (next < at || (last && !text.endsWith(part))) return undefined;
      values.push(text.slice(at, next));
      at = next + part.length;
    }
    return at === text.length ? t(english, ...values) : undefined;
  };
};

const notes: readonly Note[] = [
  // How it was measured.
  noted("measured by Intel Processor Trace: the program runs at nearly its own speed; where the trace buffer was full, calls are incomplete and the gap is counted"),
  noted("this machine has no Intel Processor Trace: {0} made the trace in perf's place, its times are not those of the machine"),
  noted("measured by probes in the kernel: each call of a probed function stops its thread at its entry and at its exit, for a microsecond or more each time; that time is part of the latencies of {0} and of the functions above it"),
  noted("only {0} and the functions that it calls directly are seen, wherever they are called from; calls that the compiler inlined are not"),
  noted("calls that were running when the measurement began or ended are incomplete"),
  noted("on this machine, just before: a hit takes {0} ns ({1} ns at an instruction that the kernel emulates), and a latency shows {2} ns ({3} ns) of that; the corrected latency is without that"),
  noted("in this recording the shortest time between two probe hits on one thread is {0} ns: latencies near that are mostly the cost of the probes"),
  noted("only code of {0} itself was traced: the functions that it calls are not seen, their time is part of its own"),
  noted("kernel code was traced too; a copy of it lies beside the trace"),
  noted("a snapshot: only what the trace buffers held at the end was kept"),
  noted("only this thread was traced, not the threads that it started"),
  noted("caught: a call of {0} took {1} ms on thread {2}, after {3} calls; times of the catch are by probes"),
  noted("none of {0} calls of {1} took longer than {2} ms: nothing was kept"),
  // How finely.
  noted("little is kept, so times are the finest there are, and decoding can begin at every 2 KiB"),
  noted("times are the finest there are"),
  noted("for more than 10 s data is saved: returns share packets, and crystal packets are an eighth as many"),
  noted("for more than a minute data is saved: no cycle packets, so that times are of some hundred nanoseconds; a shorter recording has finer ones"),
  noted("this processor has no cycle packets: times are of some hundred nanoseconds"),
  noted("the trace has no timing packets: calls are counted, their latency is not known; record with tsc, mtc and cyc"),
  noted("the recording does not name its processor; decoded without errata"),
  // What is missing.
  noted("the recording has no context-switch records: off-CPU time is unknown; record with --switch-events"),
  noted("no call of {0} was seen in {1} s: it was not called, or only where it is inlined"),
  noted("no trace was written in {0} s: nothing that was traced ran, or the filter left nothing"),
  noted("perf dropped {0} records: calls are missing, and those around are wrong or incomplete; measure for a shorter time or a colder function"),
  noted("perf did not stop when asked and was killed: the end of the recording is missing"),
  noted("the program ended with status {0}"),
  noted("not measured, because they cannot be probed: {0}"),
  noted("not measured, because no mapped library defines them yet: {0}"),
  noted("not measured, because their code is chosen when the program starts: {0}"),
  noted("not measured, because the kernel sets no probe at their first instruction: {0}"),
  noted("incomplete calls, because the kernel sets no probe at some of their exits: {0}"),
  noted("not measured, because {0} calls more functions than are probed at once ({1}): {2}"),
  noted("{0} is also left by jumps through a register or memory: such calls are complete only where the function jumped to is one of those probed"),
  noted("the executions of inlined code are not in the figures of the function"),
];

export function noteText(text: string): string {
  for (const note of notes) {
    const translated = note(text);
    if (translated !== undefined) return translated;
  }
  return text;
}
