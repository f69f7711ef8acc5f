// The locations of the uprobe backend's probes: the entries of the requested function and of the
// functions that it calls directly, and either a return probe or every instruction by which control
// leaves them. targets/unwinding.hpp says where return probes are safe. A function that ends with a
// jump (a tail call) ends where the function jumped to ends, so the functions that the target and
// its callees jump to are probed as well.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "record/probe_table.hpp"
#include "record/targets/place.hpp"
#include "record/targets/target_files.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

struct PlannedProbe {
  Place place;
  Probe::Kind kind = Probe::Kind::exit;
  std::uint64_t address = 0;     // ELF address of the instruction
  std::uint64_t file_offset = 0; // of the same, bytes
  bool tail_call = false;        // exit by a jump
  std::string condition;         // under which a conditional jump is taken, as a filter over the
                                 // field `flags` (RFLAGS); empty: always
  bool target = false;           // in a requested function
  bool needed = false; // calls of a requested function end in this one, after a jump to it
  std::optional<Place> leads_to = {}; // the function that a jump out leads to, if it is known
  std::string goroutine = {};         // values that identify a goroutine; empty: not in code of Go
};

struct ProbePlan {
  // The probes of the target come first. Each function has its entry, then its exits.
  std::vector<PlannedProbe> probes;
  std::vector<Note> notes; // functions that were omitted, and the reason
};

struct PlanLimits {
  std::size_t callees = 32;
  std::size_t probes = 4096;
  // Whether the function gets a return probe instead of probes at its exits; empty: no function.
  std::function<bool(const Place&)> return_probe = {};
};

// Returns the function that the dynamic linker would bind to the linkage name.
using StubResolver = std::function<std::optional<Place>(std::string_view linkage_name)>;

// Returns the resolver that searches the files, which must outlive it.
[[nodiscard]] StubResolver resolver_of(TargetFiles& files);

// Plans the probes of one target. Errors: unsupported when the target itself cannot be probed.
[[nodiscard]] Result<ProbePlan> plan_probes(const Place& target, const StubResolver& resolve,
                                            const PlanLimits& limits);

// Plans the probes of several targets. Targets that cannot be probed are noted. Errors: the error
// of the first target when none can be probed.
[[nodiscard]] Result<ProbePlan> plan_probes(std::span<const Place> targets,
                                            const StubResolver& resolve, const PlanLimits& limits);

// Returns true for a probe that measures the calls of a callee, and may be left out.
[[nodiscard]] constexpr bool is_of_callee(const PlannedProbe& probe) {
  return !probe.target && !probe.needed && probe.kind != Probe::Kind::goroutine_end;
}

// Returns the probes of a plan that measure the calls of the target.
[[nodiscard]] ProbePlan target_only(const ProbePlan& plan);

// Returns the probes of a plan without which no call of the target is complete: those in the
// target, and in the functions that its calls end in.
[[nodiscard]] ProbePlan without_callees(const ProbePlan& plan);

// Returns true for an instruction at which the kernel sets no probe: it refuses segment prefixes
// and LOCK (arch/x86/kernel/uprobes.c, is_prefix_bad).
[[nodiscard]] bool is_refused(std::span<const std::byte> code);

// Returns true for an instruction that the kernel emulates at a hit. It steps over a copy of every
// other instruction, which costs a second trap (branch_xol_ops and push_xol_ops, same file).
[[nodiscard]] bool is_emulated(std::span<const std::byte> code);

// Returns the condition under which the conditional jump at the start of `code` is taken, as an
// ftrace filter over `flags`. Returns nothing for conditions that do not depend on the flags
// (jrcxz, loop). Conditions: Intel SDM vol. 2, Jcc.
[[nodiscard]] std::optional<std::string> taken_condition(std::span<const std::byte> code);

} // namespace ptlens::record
