// Measurements to test with: small ones written by hand and random ones that are valid by
// construction.
#pragma once

#include "measure/measurement.hpp"

#include <cstdint>
#include <string>

namespace ptlens::measure::test {

// A call for add_call; times in ns.
struct CallSpec {
  std::uint32_t function = 0;
  std::uint32_t parent = stacks::no_call;
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;
  stacks::CallState state = stacks::CallState::complete;
  std::uint32_t site = stacks::no_site;
  std::uint32_t thread = 0;
};

// Appends the call, and fills in what follows from its parents: their `children`, its `inner`.
// Returns its index. Calls must come in the order of a CallTable.
std::uint32_t add_call(Measurement& measurement, const CallSpec& call);

std::uint32_t add_function(Measurement& measurement, const std::string& name,
                           const std::string& binary = "/bin/app", std::uint64_t address = 0);

// One thread (pid 1, tid 1) traced over [0, trace_ns).
Measurement empty_recording(std::uint64_t trace_ns);

struct RandomShape {
  std::uint32_t seed = 0;
  std::uint32_t threads = 3;
  std::uint32_t functions = 6;
  std::uint32_t calls = 300; // about that many a thread
  std::uint32_t deepest = 12;
};

// Random trees of calls: siblings one after the other inside their parent, some of no length, some
// recursive, some incomplete or unwound, with off-CPU time within each call's own time. Odd seeds
// order calls of equal start by depth rather than depth-first: a CallTable promises no more.
Measurement random_recording(const RandomShape& shape);

// The same with its calls in a store and none in its table.
Measurement stored(const Measurement& measurement);

} // namespace ptlens::measure::test
