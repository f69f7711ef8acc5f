// The trace hardware of one processor in a user-only trace: which packets the processor sends for
// each retired instruction, transfer to the kernel and passing of time. Rules: Intel SDM vol. 3,
// chapter "Intel Processor Trace": packet generation scenarios, RET compression, PSB+, CYC, MTC.
//
// Where published decoders differ, only what both read alike is sent. perf pops its return stack on
// each RET, libipt only on a compressed one: a RET is compressed only if the tops of both agree.
#pragma once

#include "clock.hpp"
#include "instruction.hpp"
#include "packet_writer.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::ptsim {

struct TraceUnitConfig {
  bool tsc = true;
  bool mtc = true;
  bool cyc = false;
  bool return_compression = true;
  std::uint8_t mtc_period = 3; // an MTC packet each 2^mtc_period crystal ticks
  std::uint8_t psb_period = 3; // PSB+ after 2^(11 + psb_period) bytes
};

class TraceUnit {
public:
  // Neither is owned; both outlive the unit.
  TraceUnit(const TraceUnitConfig& config, Clock& clock, PacketWriter& packets);

  // TraceEn is set, in the kernel: a PSB+ without FUP. And cleared there.
  void trigger_on();
  void trigger_off();

  // User code begins to run at `ip`, after the kernel ran. No effect where it runs already.
  void enter_user(std::uint64_t ip);
  // An exception, interrupt or signal takes user code away before the instruction at `ip`.
  void interrupt(std::uint64_t ip);

  // User code retired the instruction at `ip` and went on at `next`: the clock runs by its cost and
  // the packets follow. A system call or trap leaves user code.
  void retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next);

  // The kernel works for so many core cycles on behalf of the thread.
  void run_kernel(std::uint64_t cycles) { run(cycles); }

  [[nodiscard]] bool in_user() const { return in_user_; }
  [[nodiscard]] bool triggered() const { return triggered_; }

private:
  void run(std::uint64_t cycles);
  void count_cycles();
  void flush_outcomes();
  void outcome(bool taken);
  void target(std::uint64_t ip);
  void leave_user();
  void synchronise(); // PSB+
  void push_return(std::uint64_t address);
  bool pop_return(std::uint64_t address);

  TraceUnitConfig config_;
  Clock* clock_;
  PacketWriter* packets_;
  bool triggered_ = false;
  bool in_user_ = false;
  bool mode_sent_ = false;
  std::uint8_t outcomes_ = 0;
  std::uint8_t outcome_count_ = 0;
  std::uint64_t cycles_sent_ = 0;
  std::uint64_t next_mtc_ = 0; // crystal ticks
  std::uint64_t bytes_at_psb_ = 0;
  std::uint64_t current_ip_ = 0;
  std::vector<std::uint64_t> returns_popped_always_;
  std::vector<std::uint64_t> returns_popped_compressed_;
};

} // namespace ptlens::ptsim
