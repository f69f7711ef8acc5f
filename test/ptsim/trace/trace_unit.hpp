// The trace hardware of one processor in a user-only trace: which packets the processor sends for
// each retired instruction, transfer to the kernel and passing of time. Rules: Intel SDM vol. 3,
// chapter "Intel Processor Trace": packet generation scenarios, RET compression, PSB+, CYC, MTC,
// filtering by IP, overflow. What a fast walk does at each branch is inline.
//
// Where published decoders differ, only what both read alike is sent. perf pops its return stack on
// each RET, libipt only on a compressed one: a RET is compressed only if the tops of both agree.
#pragma once

#include "code/address_filter.hpp"
#include "code/instruction.hpp"
#include "trace/clock.hpp"
#include "trace/packet_writer.hpp"

#include <algorithm>
#include <array>
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

// The addresses of calls not yet returned from, the last 64.
class ReturnStack {
public:
  void push(std::uint64_t address) {
    top_ = (top_ + 1) % depth;
    addresses_[top_] = address;
    count_ += count_ < depth ? 1 : 0;
  }
  void pop() {
    if (count_ != 0) {
      --count_;
      top_ = (top_ + depth - 1) % depth;
    }
  }
  void clear() { count_ = 0; }
  [[nodiscard]] bool is_on_top(std::uint64_t address) const {
    return count_ != 0 && addresses_[top_] == address;
  }

private:
  static constexpr std::size_t depth = 64;
  std::array<std::uint64_t, depth> addresses_{};
  std::size_t top_ = 0;
  std::size_t count_ = 0;
};

class TraceUnit {
public:
  // Neither is owned; both outlive the unit.
  TraceUnit(const TraceUnitConfig& config, Clock& clock, PacketWriter& packets);

  // In the kernel: only user code in these ranges is traced from now on; null: all.
  void filter(const std::vector<AddressRange>* ranges);
  void filter(std::uint64_t begin, std::uint64_t end);
  // The unit of another processor, with that clock, goes on; while tracing is off.
  void move_to(Clock& clock) { clock_ = &clock; }

  // TraceEn is set, in the kernel: a PSB+ without FUP. And cleared there.
  void trigger_on();
  void trigger_off();

  // User code begins to run at `ip`, after the kernel ran. No effect where it runs already.
  void enter_user(std::uint64_t ip);
  // An exception, interrupt or signal takes user code away before the instruction at `ip`.
  void interrupt(std::uint64_t ip);

  // The same into a kernel that is traced, at `entry`.
  void interrupt_to(std::uint64_t ip, std::uint64_t entry);

  // User code retired the instruction at `ip` and went on at `next`: the clock runs by its cost and
  // the packets follow. A system call or trap leaves user code.
  void retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next);

  // The same in parts, for code that runs in blocks: time, then the branch that went to `next`.
  void run(std::uint64_t cycles);
  void conditional(bool taken, std::uint64_t next);
  void jump(std::uint64_t next);
  void indirect_jump(std::uint64_t next);
  void call(std::uint64_t return_address, std::uint64_t next);
  void indirect_call(std::uint64_t return_address, std::uint64_t next);
  void ret(std::uint64_t next);
  void leave_by_far_transfer(); // a system call or trap

  // The kernel works for so many core cycles on behalf of the thread.
  void run_kernel(std::uint64_t cycles) { run(cycles); }

  // Sends what waits to be sent: the outcomes so far are in the trace.
  void flush();
  // Internal buffers overflow: nothing is sent until recover(ip), with user code about to run at
  // `ip`, or until the kernel takes over.
  void overflow();
  void recover(std::uint64_t ip);
  // Tracing stops at once, without a word.
  void stop_short();
  // The same, and of the last packet so many bytes are missing.
  void stop_inside(std::size_t bytes);

  [[nodiscard]] bool in_user() const { return in_user_; }
  [[nodiscard]] bool triggered() const { return triggered_; }
  [[nodiscard]] bool lost() const { return lost_; }
  [[nodiscard]] bool outcomes_wait() const { return outcome_count_ != 0; } // for their packet
  // The last packet is the address that a branch went to.
  [[nodiscard]] bool target_was_last() const {
    return !outcomes_wait() && target_end_ == packets_->total();
  }
  // Branches of user code go to the trace.
  [[nodiscard]] bool sending() const { return sending_; }

private:
  void send_mtc(std::uint64_t cycles);
  void count_cycles();
  void outcome(bool taken, std::uint64_t next);
  void flush_outcomes();
  void target(std::uint64_t next);
  void after_branch(std::uint64_t next);
  bool crosses(std::uint64_t next);
  void enable(std::uint64_t ip);
  void leave_user();
  void synchronise(std::uint64_t ip); // PSB+
  void forget_returns();
  [[nodiscard]] bool in_range(std::uint64_t ip) const {
    return !filtered_ || std::ranges::any_of(ranges_, [ip](const AddressRange& range) {
      return range.contains(ip);
    });
  }

  static constexpr std::uint8_t outcomes_per_packet = 6;

  TraceUnitConfig config_;
  Clock* clock_;
  PacketWriter* packets_;
  bool triggered_ = false;
  bool in_user_ = false;
  bool lost_ = false;
  bool sending_ = false; // triggered, in user code, in the filter's range, nothing lost
  bool filtered_ = false;
  bool mode_sent_ = false;
  std::vector<AddressRange> ranges_;
  unsigned outcomes_ = 0;
  std::uint8_t outcome_count_ = 0;
  std::uint64_t cycles_sent_ = 0;
  std::uint64_t next_mtc_ = 0;                // crystal ticks
  std::uint64_t mtc_due_ = ~std::uint64_t{0}; // units of the clock; never where it is not wanted
  std::uint64_t psb_due_ = 0;                 // bytes of the stream
  std::uint64_t target_end_ = 0;              // the same, behind the last TIP
  ReturnStack returns_popped_always_;
  ReturnStack returns_popped_compressed_;
};

inline void TraceUnit::run(std::uint64_t cycles) {
  if (triggered_ && clock_->units() + clock_->units_of(cycles) >= mtc_due_) [[unlikely]] {
    send_mtc(cycles);
    return;
  }
  clock_->run(cycles);
}

inline void TraceUnit::count_cycles() {
  const std::uint64_t cycles = clock_->cycles() - cycles_sent_;
  if (config_.cyc && cycles > 0) {
    packets_->cyc(cycles);
    cycles_sent_ = clock_->cycles();
  }
}

inline void TraceUnit::flush_outcomes() {
  if (outcome_count_ > 0) {
    count_cycles();
    packets_->tnt8(static_cast<std::uint8_t>(outcomes_), outcome_count_);
    outcomes_ = 0;
    outcome_count_ = 0;
  }
}

inline void TraceUnit::after_branch(std::uint64_t next) {
  if (packets_->total() >= psb_due_ && !lost_) [[unlikely]] {
    flush_outcomes();
    synchronise(next);
  }
}

inline void TraceUnit::outcome(bool taken, std::uint64_t next) {
  outcomes_ = outcomes_ << 1U | (taken ? 1U : 0U);
  if (++outcome_count_ == outcomes_per_packet) {
    flush_outcomes();
    after_branch(next);
  }
}

inline void TraceUnit::target(std::uint64_t next) {
  flush_outcomes();
  count_cycles();
  packets_->ip(IpPacket::tip, next);
  target_end_ = packets_->total();
  after_branch(next);
}

inline void TraceUnit::conditional(bool taken, std::uint64_t next) {
  if (!crosses(next) && sending_) {
    outcome(taken, next);
  }
}

inline void TraceUnit::jump(std::uint64_t next) {
  crosses(next);
}

inline void TraceUnit::indirect_jump(std::uint64_t next) {
  if (!crosses(next) && sending_) {
    target(next);
  }
}

inline void TraceUnit::call(std::uint64_t return_address, std::uint64_t next) {
  if (!crosses(next) && sending_) {
    returns_popped_always_.push(return_address);
    returns_popped_compressed_.push(return_address);
  }
}

inline void TraceUnit::indirect_call(std::uint64_t return_address, std::uint64_t next) {
  if (!crosses(next) && sending_) {
    returns_popped_always_.push(return_address);
    returns_popped_compressed_.push(return_address);
    target(next);
  }
}

inline void TraceUnit::ret(std::uint64_t next) {
  if (crosses(next) || !sending_) {
    return;
  }
  const bool compressed = config_.return_compression && returns_popped_always_.is_on_top(next) &&
                          returns_popped_compressed_.is_on_top(next);
  returns_popped_always_.pop();
  if (compressed) {
    returns_popped_compressed_.pop();
    outcome(true, next);
  } else {
    target(next);
  }
}

} // namespace ptlens::ptsim
