// ptsim: a software stand-in for `perf record -e intel_pt/.../u`, for tests on machines without
// Intel Processor Trace. It single-steps a program and writes what the trace hardware of a
// simulated Intel processor and perf would have written, with the ground truth of every call beside
// it.
//
//   ptsim record -e intel_pt/cyc,mtc_period=3,psb_period=0/u --per-thread -o perf.data -- PROGRAM
//   ARGS ptsim record -e intel_pt//u -p PID --control fd:5,6
//
// Output
//   perf.data                      decodes with `perf script --itrace=cr` without an error
//   perf.data.truth.jsonl          a header line, then one line a call (--truth FILE)
//   perf.data.truth.jsonl.filtered the lines of calls of the functions that --filter lets through
//   perf.data.truth.branches.tsv   every taken branch (--branches[=FILE]), see branch_log.hpp
//
// A truth line has tid; call, its number by start on its thread; parent, the number of the call
// that it was made in, null at the bottom of a stack; function, the entry's address in the process;
// binary, ELF address and symbol; start and end, ns of perf's clock, of entering the first
// instruction and of being back at the return address; depth; caller, the address of the call
// instruction; state, as DESIGN has it; tail_call; signal_handler, for the call that the kernel
// makes; off_cpu, ns. Lines come in the order in which calls end. Truth comes from the stepped
// instruction and stack pointers, not from packets. Lines between them show what --fault took
// away: {"lost":[begin,end],"tid":T}, ns, for trace, {"lost_record":"switch"|"mapping","time":ns,
// "tid":T} for side-band.
//
// What is simulated: user code of all threads of a program or process and, where buffers are of
// processors, of the threads and processes that these make, as perf inherits; with -t of that
// thread, with --per-thread of the threads that there are. With -a, or -C for some of them, it is
// the processors that are recorded, and what runs on them is the program, what it makes, and the
// processes given with --beside; their records are those of perf 6.1, which knows nothing of the
// processors that -C leaves out, or with --all-records those of perf 6.7. They run interleaved on
// --cpus simulated processors, preempted and moved by a generator with --seed (see stepper.hpp).
// Time is simulated: a fixed cost for each class of instruction at 3.6 GHz and for each system
// call; who sleeps comes back after the time asked for, who waits for another thread at that one's
// time, and where nothing runs real time passes (--wait-scale: so many times as long). TSC 3 GHz,
// crystal 24 MHz. A program that ptsim starts runs at full speed until its own entry point, so that
// the dynamic linker is not stepped (--start-at exec traces that too; --start-at main, --stop-at F,
// and the environment's PTSIM_START_AT and PTSIM_STOP_AT choose otherwise), and with LD_BIND_NOW=1,
// so that no call goes through the lazy resolver. After --max-steps or --stop-at the program runs
// on untraced.
//
// What is not: kernel code, other processes of the machine. Code of the vDSO is mapped as perf maps
// it; perf decodes it on the same running kernel only, as it takes the vDSO's bytes from itself.
// Code without a file (JIT) is traced, and as with real recordings no decoder can follow it.
//
//   ptsim synth --seed 7 --bytes 200MB -o perf.data --counts calls.tsv BINARY LIBRARY...
//
// Nothing is executed. synth walks over the machine code of these files, takes all decisions from
// the seed, and writes the recording of a process that did the same, at tens of MB of trace per
// second. The truth files are those of record, with start_seen, with the state "lost" for calls
// that the trace does not contain, and with lines for lost trace (loss, start, end). See ptsim
// synth --help.
#include "command/options.hpp"
#include "session.hpp"
#include "synth/synth.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int bad_usage = 129; // as perf
constexpr int failed = 1;

int synthesise(const std::vector<std::string>& arguments) {
  const auto options = ptlens::ptsim::synth::parse_synth_options(arguments);
  if (!options) {
    fmt::print(stderr, "ptsim: {}\n", options.error().one_line());
    return bad_usage;
  }
  if (const auto done = ptlens::ptsim::synth::run_synth(*options); !done) {
    fmt::print(stderr, "ptsim: {}\n", done.error().one_line());
    return failed;
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  if (argc > 1 && (arguments[1] == "--version" || arguments[1] == "version")) {
    fmt::print("perf version 6.1.0 (ptsim)\n");
    return 0;
  }
  if (argc > 1 && (arguments.back() == "--help" || arguments.back() == "-h") && argc <= 3) {
    const bool synth = std::string_view(argv[1]) == "synth";
    fmt::print("{}", synth ? ptlens::ptsim::synth::synth_usage() : ptlens::ptsim::usage());
    return 0;
  }
  if (argc > 1 && arguments[1] == "synth") {
    return synthesise(arguments);
  }
  auto options = ptlens::ptsim::parse_options(arguments);
  if (!options) {
    fmt::print(stderr, "ptsim: {}\n", options.error().one_line());
    return bad_usage;
  }
  ptlens::ptsim::Session session(std::move(*options));
  const auto status = session.run();
  if (!status) {
    fmt::print(stderr, "ptsim: {}\n", status.error().one_line());
    return failed;
  }
  return *status;
}
