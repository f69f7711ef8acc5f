// The probes of a plan as events of a group in tracefs: one event for entries, one for what
// follows them, one for returns, one for jumps out, and one for each condition of conditional jumps
// out.
#pragma once

#include "record/manifest.hpp"
#include "record/perf/perf_command.hpp"
#include "record/probes/probe_plan.hpp"
#include "record/probes/tracefs.hpp"
#include "record/target.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptlens::record {

// What is read at a hit, and where it lies in a sample: see record/manifest.hpp.
inline constexpr const char* entry_arguments = "sp=%sp:u64 ret=+0(%sp):u64";
inline constexpr const char* exit_arguments = "sp=%sp:u64";

class ProbeEvents {
public:
  ProbeEvents(ProbeGroup& group, const TargetFiles& files) : group_(group), files_(files) {}

  // A callee's probe that the kernel refuses is left out and noted; the target's entry is an error.
  Result<void> define(const ProbePlan& plan);

  // Entries come last, to be opened in that order: of two probes at one instruction (a function
  // that only returns, an entry that is probed twice) the kernel runs the one opened last first.
  [[nodiscard]] std::vector<ProbeEvent> events() const;

  [[nodiscard]] const std::vector<Probe>& probes() const { return probes_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

private:
  std::string event_of(const PlannedProbe& probe);
  Result<void> define(const PlannedProbe& probe);

  ProbeGroup& group_;
  const TargetFiles& files_;
  std::map<std::string, std::string> conditional_; // condition → event
  std::map<std::string, std::uint64_t> ids_;       // by event
  std::vector<Probe> probes_;
  std::vector<std::string> notes_;
};

} // namespace ptlens::record
