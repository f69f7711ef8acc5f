// The machine that the walked threads run on: processors with their clocks, a scheduler, the trace
// hardware, the kernel's records, and the faults that were asked for. It advances the processor
// whose clock is behind, so that the threads' times and the records agree.
#pragma once

#include "file/perf_data_writer.hpp"
#include "recording/aux_buffer.hpp"
#include "synth/call_stack.hpp"
#include "synth/synth_options.hpp"
#include "synth/walker.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

namespace ptlens::ptsim::synth {

class Machine {
public:
  // References are not owned. `branches` may be null. `main` is the first thread, the others have
  // the numbers behind it.
  Machine(const SynthOptions& options, const Process& process, const Behaviour& behaviour,
          const Clock& clock, const WalkerConfig& walk, Task main, PerfDataWriter& file,
          const std::vector<CallSink*>& sinks, std::ostream* branches);

  // Until the options' limits are reached. Errors: bad_input where nothing can be walked for long.
  Result<void> run();

  [[nodiscard]] std::uint64_t trace_bytes() const;
  [[nodiscard]] std::uint64_t calls() const;

private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct Lane {
    Lane(const SynthOptions& options, Clock& clock, PerfDataWriter& file, std::size_t index);
    PacketWriter packets;
    TraceUnit unit;
    AuxBuffer aux;
    std::size_t index = 0;
    std::uint64_t last_ns = 0;           // of its records
    std::vector<std::uint64_t> fault_at; // bytes, by the options' faults
    std::uint64_t missing_records = 0;
  };
  struct Thread {
    Thread(Task of, std::size_t number, const std::vector<CallSink*>& sinks)
        : task(of), index(number), stack(of.tid, sinks) {}
    Task task;
    std::size_t index = 0;
    CallStack stack;
    std::optional<BranchLog> log;
    std::optional<Walker> walker;
    std::uint64_t ready_at = 0; // units; never while it runs
    std::uint64_t out_ns = 0;   // when it was switched out; 0: it has not run yet
    std::uint64_t last = 0;     // units, when user code last ran
    bool late = false;          // made while recording
  };
  struct Processor {
    Processor(const Clock& start, std::uint32_t number) : clock(start), cpu(number) {}
    Clock clock;
    std::uint32_t cpu = 0;
    Thread* thread = nullptr;
    Task last_task = idle_task; // that the switch records know of
    std::uint64_t slice_end = 0;
    std::uint64_t next_interrupt = 0;
    std::optional<FaultKind> losing; // trace of the running thread
    std::uint64_t losing_until = 0;
  };

  void make_threads(const Process& process, const Behaviour& behaviour, const WalkerConfig& walk,
                    Task main, const std::vector<CallSink*>& sinks, std::ostream* branches);
  bool start_threads();
  [[nodiscard]] bool limit_reached() const;
  [[nodiscard]] Thread* next_ready(std::uint64_t time);
  [[nodiscard]] std::uint64_t earliest_ready() const;
  bool advance();
  void step(Processor& processor);
  void at_bytes(Processor& processor);
  void at_time(Processor& processor);
  void system_call(Processor& processor);
  void interrupt(Processor& processor);
  void resume(Processor& processor);
  void lose(Processor& processor, FaultKind kind);
  void find_again(Processor& processor);
  void next_fault(Lane& lane, std::size_t fault);
  void switch_in(Processor& processor, Thread& thread);
  void switch_out(Processor& processor, bool preempted);
  void take_off(Processor& processor, const Thread* next, bool preempted);
  bool drop_switch(Lane& lane);
  [[nodiscard]] Lane* lane_of_switch(const Processor& processor, Task task);
  void write_switch_out(Processor& processor, Task task, Task next, bool preempted);
  void write_switch_in(Processor& processor, Task task, Task previous);
  void note_missing(Lane& lane, Processor& processor, Task task);
  void announce(Processor& processor, Thread& thread);
  void end();
  void end_thread(Processor& processor);
  void end_round();

  [[nodiscard]] Lane& lane_of(const Processor& processor, const Thread& thread);
  [[nodiscard]] Stamp stamp(Lane& lane, const Processor& processor, Task task);
  std::uint64_t time_around(double microseconds); // random, of that mean, units
  [[nodiscard]] std::uint64_t units_of_ns(std::uint64_t ns) const;

  const SynthOptions* options_;
  PerfDataWriter* file_;
  Random random_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::unique_ptr<Processor>> processors_;
  std::vector<FunctionId> handlers_;
  std::uint64_t newest_of_round_ = 0; // units, when the last round was written
};

} // namespace ptlens::ptsim::synth
