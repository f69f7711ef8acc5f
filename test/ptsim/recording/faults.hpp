// What goes wrong in a recording on demand, and when: the same seed, the same faults.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ptlens::ptsim {

struct FaultPlan {                  // 0: never
  std::uint64_t overflow_every = 0; // traced branches that send something, in the mean
  std::uint64_t truncate_every = 0; // the same
  std::uint64_t cut_every = 0;      // the same
  std::uint64_t lose_every = 0;     // switch and mapping records, in the mean
  std::uint64_t trap_every = 0;     // steps, in the mean: the trap after one is lost
  bool no_end = false;              // the trace ends abruptly, without PGD

  [[nodiscard]] bool any() const {
    return overflow_every != 0 || truncate_every != 0 || cut_every != 0 || lose_every != 0 ||
           trap_every != 0 || no_end;
  }
};

// "ovf", "ovf:every=5000", "truncate[:every=N]", "cut[:every=N]", "lost-sideband[:every=N]",
// "lost-trap[:every=N]", "no-pgd" added to the plan. Errors: bad_input.
Result<void> parse_fault(const std::string& text, FaultPlan& plan);

class Faults {
public:
  Faults(const FaultPlan& plan, std::uint64_t seed);

  // Asked once for each such branch: whether the fault begins after it.
  [[nodiscard]] bool overflow_begins() { return due(overflow_in_, plan_.overflow_every); }
  [[nodiscard]] bool truncation_begins() { return due(truncate_in_, plan_.truncate_every); }
  // The buffer is full inside a packet, the next one that has an address.
  [[nodiscard]] bool cut_is_due() { return due(cut_in_, plan_.cut_every); }
  // Asked for each record: whether it is lost.
  [[nodiscard]] bool record_is_lost() { return due(lose_in_, plan_.lose_every); }
  // Asked for each step: whether the next instruction is executed, too.
  [[nodiscard]] bool trap_is_lost() { return due(trap_in_, plan_.trap_every); }
  [[nodiscard]] bool ends_abruptly() const { return plan_.no_end; }

  // How long an overflow lasts, core cycles: 0.1 to 5 µs at 3.6 GHz.
  [[nodiscard]] std::uint64_t overflow_cycles() { return between(360, 18'000); }
  // How much of the packet is missing, bytes.
  [[nodiscard]] std::uint64_t cut_bytes() { return between(1, 3); }
  // How long perf takes to empty a full buffer, TSC ticks: 3 to 30 µs at 3 GHz.
  [[nodiscard]] std::uint64_t drain_ticks() { return between(9000, 90'000); }

private:
  [[nodiscard]] std::uint64_t between(std::uint64_t low, std::uint64_t high);
  [[nodiscard]] bool due(std::uint64_t& remaining, std::uint64_t every);

  FaultPlan plan_;
  std::mt19937_64 random_;
  std::uint64_t overflow_in_ = 0;
  std::uint64_t truncate_in_ = 0;
  std::uint64_t cut_in_ = 0;
  std::uint64_t lose_in_ = 0;
  std::uint64_t trap_in_ = 0;
};

} // namespace ptlens::ptsim
