// How the latencies of calls are distributed: a histogram, a grid of latency over time, and the
// slowest calls one by one. A client draws millions of calls from it.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

struct DistributionShape {
  std::size_t bins = 80;     // of latency
  std::size_t columns = 120; // of time
  std::size_t points = 2000; // slowest calls
};

struct CallSums {
  std::uint64_t calls = 0;
  std::uint64_t time = 0; // sum of their latencies, ns
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;

  [[nodiscard]] std::uint64_t on_cpu() const {
    const std::uint64_t off = blocked + preempted;
    return time > off ? time - off : 0;
  }
  void add(const CallSums& other);
};

struct Distribution {
  std::uint64_t first = 0;           // start of the first call, ns of perf's clock
  std::uint64_t last = 0;            // no call ends later
  std::vector<std::uint64_t> bounds; // of the bins in ns: bin i has bounds[i] <= latency <
                                     // bounds[i + 1]; equally wide on a logarithmic axis
  std::vector<CallSums> all;         // by bin
  std::vector<CallSums> selected;    // by bin
  std::size_t columns = 0;           // intervals of time from `first` to `last`, equally wide
  std::vector<std::uint32_t> grid;   // calls, by column and then by bin
  std::vector<std::uint32_t> selected_grid;
  CallSubset slowest; // the slowest first
  std::vector<bool> slowest_selected;

  [[nodiscard]] std::size_t bins() const { return all.size(); }
};

// Counts the functions' calls in the states that the selection names, else the complete ones, and
// of these the selected ones.
[[nodiscard]] Distribution distribution(const Measurement& measurement,
                                        std::span<const stacks::FunctionId> functions,
                                        const Selection& selection, const DistributionShape& shape);

} // namespace ptlens::measure
