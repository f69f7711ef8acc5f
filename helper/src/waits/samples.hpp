// Samples of the tracepoints sched:sched_switch and sched:sched_waking as plain values. Layout of
// their payloads: events/sched/*/format in tracefs, which has not changed on 64-bit machines since
// Linux 2.6.39.
#pragma once

#include "perfdata/contents/records.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::waits {

// The payload of sched_switch: the thread that leaves the CPU, and the one that gets it.
struct SwitchFields {
  std::int32_t tid = -1;
  std::string name;
  std::uint64_t state = 0; // bits of TASK_*; 0: runnable
  std::int32_t next_tid = -1;
  std::string next_name;

  // Returns whether the thread was runnable when it left the CPU.
  [[nodiscard]] bool is_runnable() const;
  // Returns whether the thread ended.
  [[nodiscard]] bool is_dead() const;
};

// The payload of sched_waking: the thread that will run again.
struct WakingFields {
  std::int32_t tid = -1;
  bool in_interrupt = false; // the waker was an interrupt, not the thread of the sample
};

// Return nothing where the payload is too short.
[[nodiscard]] std::optional<SwitchFields> switch_fields(std::span<const std::byte> raw);
[[nodiscard]] std::optional<WakingFields> waking_fields(std::span<const std::byte> raw);

// Returns the user's instruction pointer among the registers of a sample; `which`: of
// perf_event_attr.sample_regs_user. Nothing where it is not among them.
[[nodiscard]] std::optional<std::uint64_t> user_place(std::span<const std::byte> registers,
                                                      std::uint64_t which);

// Returns the addresses of the kernel's part of a call chain, innermost first.
[[nodiscard]] std::vector<std::uint64_t> kernel_chain(std::span<const std::byte> chain);
// Returns the user's part of a call chain, innermost first.
[[nodiscard]] std::vector<std::uint64_t> user_chain(std::span<const std::byte> chain);

} // namespace ptlens::waits
