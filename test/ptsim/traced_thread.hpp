// One traced thread: steps it and tells clock, trace hardware, truth and recording what happened.
#pragma once

#include "aux_buffer.hpp"
#include "branch_log.hpp"
#include "call_truth.hpp"
#include "clock.hpp"
#include "code_reader.hpp"
#include "packet_writer.hpp"
#include "perf_data_writer.hpp"
#include "places.hpp"
#include "trace_unit.hpp"
#include "tracee.hpp"

#include <cstdint>
#include <functional>
#include <ostream>

namespace ptlens::ptsim {

// What is shared by all threads of a session; nothing is owned.
struct Recorder {
  Clock* clock;
  PerfDataWriter* file;
  Places* places;
  std::ostream* truth;
  std::ostream* branches; // null: not wanted
};

class TracedThread {
public:
  TracedThread(const Recorder& recorder, const TraceUnitConfig& config, std::uint64_t aux_bytes,
               pid_t pid, pid_t tid);

  // The thread is stopped and from now on traced. `mappings_time` is the time of the records of
  // mappings that are new.
  Result<void> begin(const Tracee& tracee, std::uint64_t mappings_time);

  // One instruction or signal. False when the thread ended or `give_up` stopped it.
  Result<bool> step(Tracee& tracee, const std::function<bool()>& give_up);

  // Tracing stops; the thread goes on or has ended.
  void end(bool ended);

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t ip() const { return registers_.ip; }
  [[nodiscard]] std::uint64_t calls() const { return truth_.calls(); }
  [[nodiscard]] std::uint64_t trace_bytes() const { return packets_.total(); }

private:
  struct Current { // the instruction about to be executed
    std::uint64_t ip = 0;
    Instruction instruction;
    std::uint64_t system_call = 0;
    std::uint64_t started_ns = 0; // real time
  };

  [[nodiscard]] Moment now() const;
  [[nodiscard]] Stamp stamp() const;
  void switch_out(bool preempted);
  void switch_in();
  [[nodiscard]] std::uint64_t effective_ip() const;
  Result<Current> current();
  Result<void> executed(const Tracee& tracee, const Current& current);
  Result<void> entered_handler(const Tracee& tracee);
  Result<void> replaced(const Tracee& tracee, const Current& current);
  void leave_for_kernel(const Current& current);
  void spend_time_in_kernel(const Current& current);
  void resume_user(std::uint64_t ip);
  Result<void> update_mappings(std::uint64_t time);
  [[nodiscard]] std::uint64_t word_at(std::uint64_t address) const;

  Recorder recorder_;
  pid_t pid_;
  pid_t tid_;
  PacketWriter packets_;
  TraceUnit unit_;
  AuxBuffer aux_;
  CodeReader code_;
  CallTruth truth_;
  BranchLog branches_;
  Registers registers_;
  std::uint64_t off_cpu_ns_ = 0;
  std::uint64_t steps_ = 0;
  bool announced_ = false; // ITRACE_START
};

} // namespace ptlens::ptsim
