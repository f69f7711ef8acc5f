// The calls that a question needs: calls are stored by edge, so that a subset is a set of edges.
#pragma once

#include "cache/call_rows.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::measure {

// The calls of some edges, read from the measurement's cache.
class CallSubset {
public:
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
  // Adds all calls between a call of the function and the ancestor that the selection names, so
  // that a chain of parents leads to it. Adds nothing where the selection names none.
  void add_path_to_ancestor(stacks::FunctionId function, const Selection& selection);

  // Returns the edges, ascending.
  [[nodiscard]] std::vector<cache::EdgeId> edges() const;
  // Reads the calls.
  [[nodiscard]] CallSubset read() const;

private:
  using Functions = IdVector<stacks::FunctionId, bool>;

  [[nodiscard]] Functions reachable(const std::vector<stacks::FunctionId>& from,
                                    bool upwards) const;

  const Measurement* measurement_;
  const cache::CallCache* cache_;
  IdVector<cache::EdgeId, bool> edges_;
};

} // namespace ptlens::measure
