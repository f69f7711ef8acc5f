// Records probe hits: sets the probes in the program, writes the hits to a perf.data file in the
// order of time, keeps the load within the budget, and ends all probes at one instant.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "base/progress.hpp"
#include "record/machine/wait_events.hpp"
#include "record/manifest.hpp"
#include "record/perf/session.hpp"
#include "record/probes/cost/probe_load.hpp"
#include "record/probes/events/hit_events.hpp"
#include "record/probes/events/probe_event.hpp"
#include "record/probes/plan/budget_plan.hpp"
#include "record/probes/session/late_calls.hpp"
#include "record/request.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptlens::record {

struct HitSession {
  const Request* request = nullptr;
  std::vector<ProbeEvent> events = {};  // in the order in which they are opened
  std::set<std::uint64_t> callees = {}; // numbers of the events that may be left out
  HitCosts costs = {};
  double wait_ns = 0; // what a record of a wait costs its thread
  ProbeBudget budget = ProbeBudget();
  bool in_bursts = false; // from the beginning
  std::size_t pages = 1;  // of each buffer
  std::string data_file = {};
  std::map<std::string, std::vector<std::uint8_t>> build_ids = {}; // by path
  std::optional<WaitEvents> waits = {};                            // recorded beside the probes
  // Where set, only the last seconds are stored, and the recording ends when a call took too long
  // or a snapshot is asked for.
  std::optional<LateCalls> snapshot = {};
};

struct HitSessionEnd {
  SessionEnd end = {};
  std::vector<Interval> measured = {}; // when all probes were set and enabled
  std::uint64_t end_ns = 0;            // of the recording
  std::uint64_t callees_end_ns = 0;    // when the probes of callees were removed; 0: never
  double slowdown = 1;
  HitCosts costs = {}; // with the number of hits
  std::vector<Note> notes = {};
  // What still holds the probes, disabled. On a busy machine the kernel can need seconds to remove
  // them, so that the caller does it while the recording is read.
  std::optional<HitEvents> events = {};
  std::vector<Descriptor> held = {};
};

// Errors: cancelled, gone, no_rights, and the errors of Child::start.
[[nodiscard]] Result<HitSessionEnd> run_hit_session(const HitSession& session,
                                                    const Progress& progress);

} // namespace ptlens::record
