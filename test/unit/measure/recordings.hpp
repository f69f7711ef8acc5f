// Recordings for tests: small ones written by hand, and random ones that are valid by construction.
#pragma once

#include "measure/measurement.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure::test {

// The calls of a recording as a table, which tests write and read directly.
struct Recording {
  RecordingInfo recording;
  std::vector<stacks::ThreadInfo> threads;
  stacks::Functions functions;
  stacks::CallSites sites;
  stacks::CallTable calls;

  // Returns the measurement with the calls in a cache in memory.
  operator Measurement() const; // NOLINT(google-explicit-constructor): questions take either
};

// A call for add_call; times in ns.
struct CallSpec {
  stacks::FunctionId function{};
  stacks::CallIndex parent = stacks::CallIndex::none;
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;
  stacks::CallState state = stacks::CallState::complete;
  stacks::SiteId site = stacks::SiteId::none;
  std::uint32_t thread = 0;
  std::uint64_t removed = 0; // by which probes made it longer than `latency`
  std::uint32_t uncertainty = 0;
  bool end_unknown = false;
};

// Appends the call, adds its latency to its parent's `children`, and computes its `inner`. Returns
// its index. Calls must be added in the order of a CallTable.
stacks::CallIndex add_call(Recording& measurement, const CallSpec& call);

stacks::FunctionId add_function(Recording& measurement, const std::string& name,
                                const std::string& binary = "/bin/app", std::uint64_t address = 0);

// One thread (pid 1, tid 1) traced over [0, trace_ns).
Recording empty_recording(std::uint64_t trace_ns);

struct RandomShape {
  std::uint32_t seed = 0;
  std::uint32_t threads = 3;
  std::uint32_t functions = 6;
  std::uint32_t calls = 300; // about that many a thread
  std::uint32_t deepest = 12;
  std::uint32_t complete_functions = 0; // the functions below have complete calls only
};

// Random trees of calls: siblings one after the other inside their parent, some of no length, some
// recursive, some incomplete or unwound, with off-CPU time within each call's own time. Odd seeds
// order calls of equal start by depth rather than depth-first: a CallTable promises no more.
Recording random_recording(const RandomShape& shape);

} // namespace ptlens::measure::test
