// The probes of a plan as events of a group in tracefs. There is one event for entries, one for
// their second probes, one for returns, one for the second probes of returns, one for jumps out,
// and one for each condition of conditional jumps out.
#pragma once

#include "base/note.hpp"
#include "record/perf/perf_command.hpp"
#include "record/probe_table.hpp"
#include "record/probes/probe_group.hpp"
#include "record/probes/probe_plan.hpp"
#include "record/targets/target_files.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::record {

// The values that the kernel stores at a hit. Manifest documents their offsets in a sample.
inline constexpr const char* entry_arguments = "sp=%sp:u64 ret=+0(%sp):u64";
inline constexpr const char* exit_arguments = "sp=%sp:u64";

class ProbeEvents {
public:
  ProbeEvents(ProbeGroup& group, const TargetFiles& files) : group_(group), files_(files) {}

  // Adds the probes to the group. A callee's probe that the kernel refuses is omitted and noted; a
  // refused entry of the target is an error.
  Result<void> define(const ProbePlan& plan);

  // Returns the events in the order in which they must be opened. Entries come last: of two probes
  // at one instruction (a function that only returns, an entry with a second probe) the kernel runs
  // the one that was opened last first.
  [[nodiscard]] std::vector<ProbeEvent> events() const;

  [[nodiscard]] const std::vector<Probe>& probes() const { return probes_; }
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }

private:
  std::string event_of(const PlannedProbe& probe);
  Result<void> define(const PlannedProbe& probe);

  ProbeGroup& group_;
  const TargetFiles& files_;
  // (prefix of Go's events, condition) → event
  std::map<std::pair<std::string, std::string>, std::string> conditional_;
  std::map<std::string, std::uint64_t> ids_; // by event
  std::vector<Probe> probes_;
  std::vector<Note> notes_;
};

} // namespace ptlens::record
