// The probes of a plan as events of a group in tracefs. There is one event for entries, one for
// returns, one for return probes, one for jumps out, and one for each condition of conditional
// jumps out. Callees have events of their own, so that their probes can be removed alone. So has
// code of Go, whose probes store more.
#pragma once

#include "base/note.hpp"
#include "record/probe_table.hpp"
#include "record/probes/events/probe_event.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/probes/plan/probe_plan.hpp"
#include "record/targets/target_files.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
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
  // at one instruction (a function that only returns) the kernel runs the one that was opened last
  // first.
  [[nodiscard]] std::vector<ProbeEvent> events() const;

  // Returns the numbers of the events of callees.
  [[nodiscard]] const std::set<std::uint64_t>& callees() const { return callees_; }

  [[nodiscard]] const std::vector<Probe>& probes() const { return probes_; }
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }

private:
  std::string event_of(const PlannedProbe& probe);
  Result<void> define(const PlannedProbe& probe);

  ProbeGroup& group_;
  const TargetFiles& files_;
  // condition, prefix, whether in code of Go → event
  std::map<std::tuple<std::string, std::string, bool>, std::string> conditional_;
  std::set<std::uint64_t> callees_;
  std::map<std::string, std::uint64_t> ids_; // by event
  std::vector<Probe> probes_;
  std::vector<Note> notes_;
};

} // namespace ptlens::record
