// Programs that throw, panic, jump, cancel, switch stacks or fork through a measured function run on unharmed, and the ends of
// tail calls are found. The judges are the programs' own counts and exit statuses.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { helper, json, noProbes, output, probesWithoutBudget, run, temporaryFolder } from "./support.mjs";

const skip = noProbes;
const noRust = run("sh", ["-c", "rustc --version"]).status === 0 ? false : "rustc does not run";

// Each program calls `measured` 40 times. Every fourth call (10 of 40) does not return, except where `ended` says otherwise; the program exits with 0
// only if it went on as it should.
const programs = [
  {
    name: "throws", file: "throws.cpp", compiler: "g++", complete: 30,
    source: `
      #include <stdexcept>
      extern "C" __attribute__((noipa)) void deep(int x) { if (x % 4 == 0) throw std::runtime_error("fourth"); }
      extern "C" __attribute__((noipa)) void measured(int x) { deep(x); asm volatile(""); }
      int main() {
        int caught = 0;
        for (int x = 0; x < 40; ++x) try { measured(x); } catch (const std::exception&) { ++caught; }
        return caught == 10 ? 0 : 1;
      }`,
  },
  {
    name: "calls longjmp", file: "jumps.c", compiler: "gcc", complete: 30,
    source: `
      #include <setjmp.h>
      static jmp_buf back;
      __attribute__((noipa)) void deep(int x) { if (x % 4 == 0) longjmp(back, 1); }
      __attribute__((noipa)) void measured(int x) { deep(x); __asm__ volatile(""); }
      int main(void) {
        volatile int jumped = 0;
        for (volatile int x = 0; x < 40; ++x) { if (setjmp(back) == 0) measured(x); else ++jumped; }
        return jumped == 10 ? 0 : 1;
      }`,
  },
  {
    name: "ends threads inside the function", file: "threads.c", compiler: "gcc", complete: 30,
    source: `
      #include <pthread.h>
      #include <stdlib.h>
      static int cleaned;
      static void clean(void* x) { ++cleaned; }
      __attribute__((noipa)) void deep(long x) { if (x % 4 == 0) pthread_exit((void*)1); }
      __attribute__((noipa)) void measured(long x) { deep(x); __asm__ volatile(""); }
      static void* run(void* x) {
        pthread_cleanup_push(clean, NULL);
        measured((long)x);
        pthread_cleanup_pop(0);
        return NULL;
      }
      int main(void) {
        for (long x = 0; x < 40; ++x) { pthread_t thread; if (pthread_create(&thread, NULL, run, (void*)x)) return 2; pthread_join(thread, NULL); }
        return cleaned == 10 ? 0 : 1;
      }`,
  },
  {
    name: "switches stacks inside the function", file: "stacks.c", compiler: "gcc", complete: 40,
    source: `
      #include <ucontext.h>
      static ucontext_t contexts[3]; // of main and two coroutines
      static char stacks[2][65536];
      static int switched;
      __attribute__((noipa)) void deep(int self) { ++switched; swapcontext(&contexts[self], &contexts[3 - self]); }
      __attribute__((noipa)) void measured(int self) { deep(self); __asm__ volatile(""); }
      static void routine(int self) { for (int i = 0; i < 20; ++i) measured(self); if (self == 1) swapcontext(&contexts[1], &contexts[2]); }
      int main(void) {
        for (int self = 1; self < 3; ++self) {
          getcontext(&contexts[self]);
          contexts[self].uc_stack.ss_sp = stacks[self - 1];
          contexts[self].uc_stack.ss_size = sizeof stacks[0];
          contexts[self].uc_link = &contexts[0];
          makecontext(&contexts[self], (void (*)(void))routine, 1, self);
        }
        swapcontext(&contexts[0], &contexts[1]);
        return switched == 40 ? 0 : 1;
      }`,
    any: true, // the last switches never come back to their calls
  },
  {
    name: "forks inside the function", file: "forks.c", compiler: "gcc", complete: 43, returns: true,
    source: `
      #include <sys/wait.h>
      #include <unistd.h>
      static pid_t child = -1;
      __attribute__((noipa)) void deep(int x) { if (x == 2) child = fork(); }
      __attribute__((noipa)) int measured(int x) { deep(x); __asm__ volatile(""); return x; }
      int main(void) {
        int sum = 0;
        for (int x = 0; x < 40; ++x) {
          sum += measured(x);
          if (child == 0 && x == 5) _exit(sum == 15 ? 0 : 3); // the child goes on from x = 2 to 5
        }
        int status = -1;
        waitpid(child, &status, 0);
        return status == 0 && sum == 780 ? 0 : 1;
      }`,
    // 40 of the parent, and 3 to 5 of the child. Its call that forked began in the parent.
    any: true,
  },
];

function compile(t, { file, compiler, source }, options = []) {
  const folder = temporaryFolder(t);
  writeFileSync(path.join(folder, file), source);
  const program = path.join(folder, "program");
  output(compiler, [...(compiler === "rustc" ? ["-O", "-g"] : ["-O2", "-g", "-pthread"]), ...options, "-o", program, path.join(folder, file)]);
  assert.equal(run(program, []).status, 0, "the program alone does what it should");
  return { folder, program };
}

function record(folder, program, name, ...options) {
  const recording = path.join(folder, `recording${options.join("")}`);
  const { status, stderr } = run(helper, ["record", ...probesWithoutBudget, ...options, "--function", name, "-o", recording, "--", program]);
  assert.equal(status, 0, stderr);
  const { notes, probes } = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
  const codes = notes.map(({ code }) => code);
  assert.ok(!codes.includes("program_failed"), "the program went on unharmed");
  return { ...json(["report", "--json", "--function", name, recording]), codes, kinds: new Set(probes.filter(({ target }) => target).map(({ kind }) => kind)) };
}

for (const each of programs) {
  test(`a program that ${each.name} goes on unharmed`, { skip }, (t) => {
    const { folder, program } = compile(t, each);
    const { calls, codes, kinds } = record(folder, program, "measured");
    assert.equal(kinds.has("returned"), each.returns === true, `return probes only where they are safe: ${codes}`);
    assert.ok(codes.includes(each.returns ? "return_probes" : "exit_probes"), `a note says why: ${codes}`);
    if (!each.any) assert.equal(calls.complete, each.complete);
    if (each.returns) assert.ok(calls.complete >= 40, JSON.stringify(calls));
  });
}

test("a Rust program that panics goes on unharmed", { skip: skip || noRust }, (t) => {
  const { folder, program } = compile(t, {
    file: "panics.rs", compiler: "rustc",
    source: `
      #[inline(never)] fn deep(x: u32) { if std::hint::black_box(x) % 4 == 0 { panic!("fourth"); } }
      #[inline(never)] #[no_mangle] pub extern "Rust" fn measured(x: u32) -> u32 { deep(x); std::hint::black_box(x) }
      fn main() {
        std::panic::set_hook(Box::new(|_| {}));
        let caught = (0..40).filter(|&x| std::panic::catch_unwind(|| measured(x)).is_err()).count();
        std::process::exit(if caught == 10 { 0 } else { 1 });
      }`,
  });
  const { calls, kinds } = record(folder, program, "measured");
  assert.ok(!kinds.has("returned"));
  assert.equal(calls.complete, 30);
});

test("a function that calls nothing gets a return probe in a program that throws, too", { skip }, (t) => {
  const { folder, program } = compile(t, {
    file: "leaf.cpp", compiler: "g++",
    source: `
      #include <stdexcept>
      extern "C" __attribute__((noipa)) int leaf(int x) { return x + 1; }
      int main() {
        int sum = 0;
        for (int x = 0; x < 40; ++x) try { sum += leaf(x); throw std::runtime_error(""); } catch (const std::exception&) {}
        return sum == 820 ? 0 : 1;
      }`,
  });
  const { calls, kinds } = record(folder, program, "leaf");
  assert.ok(kinds.has("returned"));
  assert.deepEqual(calls, { complete: 40, incomplete: 0, unwound: 0 });
});

// The last act of `finish` is a jump to free, by way of operator delete in C++. The function in the C library has several names.
const tails = [
  ["free", "gcc", "tail.c", `
    #include <stdlib.h>
    __attribute__((noipa)) void finish(int* p) { *p = 1; free(p); }
    int main(void) { for (int i = 0; i < 6; ++i) finish(malloc(sizeof(int))); return 0; }`],
  ["operator delete", "g++", "tail.cpp", `
    #include <new>
    extern "C" __attribute__((noipa)) void finish(int* p) { *p = 1; operator delete(p); }
    int main() { for (int i = 0; i < 6; ++i) finish(static_cast<int*>(operator new(sizeof(int)))); }`],
];
for (const [name, compiler, file, source] of tails) {
  for (const returns of ["exit", "auto"]) {
    test(`calls that end in ${name} are complete (--returns ${returns})`, { skip }, (t) => {
      const { folder, program } = compile(t, { file, compiler, source });
      assert.match(output("objdump", ["-d", "--disassemble=finish", program]), /jmp .*@plt/, "a tail call");
      const { calls, callers, codes } = record(folder, program, "finish", "--returns", returns);
      assert.deepEqual(calls, { complete: 6, incomplete: 0, unwound: 0 });
      assert.deepEqual(callers.map((row) => row.name), ["main"], "no call is below the function that the one before ended in");
      assert.ok(!codes.includes("callees_not_loaded"), "a loaded library defines it");
    });
  }
}
