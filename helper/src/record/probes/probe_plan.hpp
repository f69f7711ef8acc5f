// Where the uprobe backend sets probes: at the entry of the function asked about and of the
// functions that it calls directly, and at every instruction by which they are left. Plain
// probes at the exits and not return probes, because those replace the return address on the
// target's stack: a C++ program that throws through such a frame is terminated, and a Go program
// that moves its stack crashes. A function that is left by a jump (a tail call) ends where the
// function jumped to ends, so what the target and its callees jump to is followed and probed as
// well.
#pragma once

#include "record/manifest.hpp"
#include "symbols/binary.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// A function in an opened binary.
struct Place {
  std::shared_ptr<const symbols::Binary> binary;
  std::uint32_t function = 0; // index

  [[nodiscard]] const symbols::Function& operator*() const { return binary->functions()[function]; }
  [[nodiscard]] const symbols::Function* operator->() const { return &**this; }
};

struct PlannedProbe {
  Place place;
  Probe::Kind kind = Probe::Kind::exit;
  std::uint64_t address = 0;     // ELF address of the instruction
  std::uint64_t file_offset = 0; // of the same, bytes
  bool tail_call = false;        // exit by a jump
  std::string condition;         // conditional jump: when it is taken, as a filter over the field
                                 // `flags` (RFLAGS); empty: always
  bool target = false;           // belongs to the function asked about
};

struct ProbePlan {
  // The target's first; of each function the entry, what follows the entry, the exits, each with
  // what follows it.
  std::vector<PlannedProbe> probes;
  std::vector<std::string> notes; // what was left out and why, one line each
};

struct PlanLimits {
  std::size_t callees = 32;
  std::size_t probes = 4096;
  bool cost_in_time = true; // second probes of targets tell what a hit costs
};

// The function of that linkage name outside the given binary, as the dynamic linker would bind it.
using StubResolver = std::function<std::optional<Place>(std::string_view linkage_name)>;

// Errors: unsupported, when the target itself cannot be probed.
[[nodiscard]] Result<ProbePlan> plan_probes(const Place& target, const StubResolver& resolve,
                                            const PlanLimits& limits);

// Of several functions at once, each a target; those that cannot be probed are noted. Errors: those
// of the first, when none can.
[[nodiscard]] Result<ProbePlan> plan_probes(std::span<const Place> targets,
                                            const StubResolver& resolve, const PlanLimits& limits);

// The part of a plan that belongs to the target alone.
[[nodiscard]] ProbePlan target_only(const ProbePlan& plan);

// True when the kernel sets no probe at such an instruction: it refuses the prefixes of segments
// and LOCK (arch/x86/kernel/uprobes.c, is_prefix_bad).
[[nodiscard]] bool is_refused(std::span<const std::byte> code);

// True when the kernel does the work of such an instruction itself, at a hit, and need not step
// over a copy of it, which costs a second trap (branch_xol_ops and push_xol_ops, same file).
[[nodiscard]] bool is_emulated(std::span<const std::byte> code);

// When the conditional jump at the start of `code` is taken, as an ftrace filter over `flags`.
// Nothing where the condition is not one of flags (jrcxz, loop). Conditions: Intel SDM vol. 2, Jcc.
[[nodiscard]] std::optional<std::string> taken_condition(std::span<const std::byte> code);

} // namespace ptlens::record
