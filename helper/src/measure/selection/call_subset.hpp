// The calls that a question needs: calls are stored by edge, so that a subset is a set of edges.
#pragma once

#include "cache/reading/call_rows.hpp"
#include "cache/reading/window_calls.hpp"
#include "measure/measurement.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// The calls of some edges, read from the measurement's cache.
class CallSubset {
public:
  CallSubset() = default;
  explicit CallSubset(cache::CallRows rows) : rows_(std::move(rows)) {}

  [[nodiscard]] const stacks::CallTable& calls() const { return rows_.calls; }
  // Returns the function of the call that made this one, whether that call is in the subset or not;
  // none for a root.
  [[nodiscard]] stacks::FunctionId outer_function(std::uint32_t call) const {
    return rows_.caller[call];
  }
  // Returns the call's number of opening in its thread.
  [[nodiscard]] stacks::CallId order(std::uint32_t call) const { return rows_.order[call]; }

private:
  cache::CallRows rows_;
};

// Collects the edges whose calls a question needs.
class CallsNeeded {
public:
  // The measurement must outlive the object.
  explicit CallsNeeded(const Measurement& measurement);

  void add_calls_of(stacks::FunctionId function);
  void add_calls_made_by(stacks::FunctionId function);
  // Adds the calls of the function and all calls that they led to.
  void add_calls_below(stacks::FunctionId function);
  void add_all_calls();
  // Adds all calls between a call of the functions and one of the ancestors, so that a chain of
  // parents leads to it.
  void add_paths_to(std::span<const stacks::FunctionId> ancestors,
                    std::span<const stacks::FunctionId> functions);

  // Returns the edges, ascending.
  [[nodiscard]] std::vector<cache::EdgeId> edges() const;
  // Reads the calls.
  [[nodiscard]] CallSubset read() const;
  // Reads those that overlap one of the windows.
  [[nodiscard]] CallSubset read(std::span<const cache::Window> windows) const;

private:
  using Functions = IdVector<stacks::FunctionId, bool>;

  [[nodiscard]] Functions reachable(std::span<const stacks::FunctionId> from, bool upwards) const;

  const Measurement* measurement_;
  const cache::CallCache* cache_;
  IdVector<cache::EdgeId, bool> edges_;
};

} // namespace ptlens::measure
