// The calls that a question is about, and those that it needs to know their place among: gathered
// from the measurement's store, edges at a time. A measurement without a store has its table, which
// is taken as it is.
#pragma once

#include "cache/gather.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::measure {

class CallSubset {
public:
  explicit CallSubset(const stacks::CallTable& table) : table_(&table) {}
  explicit CallSubset(cache::Gathered gathered) : gathered_(std::move(gathered)) {}

  // Makes the calls of `functions` calls of the first of them.
  void fold(std::span<const std::uint32_t> functions);

  [[nodiscard]] const stacks::CallTable& calls() const {
    return table_ != nullptr ? *table_ : gathered_.calls;
  }
  // The function of the call that this one was made in, whether that one is in the part or not;
  // no_call for a root.
  [[nodiscard]] std::uint32_t outer_function(std::uint32_t call) const {
    if (table_ == nullptr) {
      return gathered_.caller[call];
    }
    const std::uint32_t parent = table_->parent[call];
    return parent == stacks::no_call ? stacks::no_call : table_->function[parent];
  }

private:
  const stacks::CallTable* table_ = nullptr; // not owned
  cache::Gathered gathered_;
};

// Which calls a part has to hold.
class CallsNeeded {
public:
  explicit CallsNeeded(const Measurement& measurement);

  void calls_of(std::uint32_t function);
  void calls_in(std::uint32_t function);           // those that it made
  void calls_from(const std::vector<bool>& sites); // those made from the sites
  void everything_below(std::uint32_t function);   // and its own calls
  void everything();
  // All between a call of the function and the ancestor that is asked for, so that following the
  // parents leads there; nothing where none is.
  void way_up(std::uint32_t function, const Selection& selection);

  [[nodiscard]] CallSubset gather() const;
  // Of the store, ascending; none where there is none.
  [[nodiscard]] std::vector<std::uint32_t> edges() const;

private:
  using Functions = std::vector<bool>;

  [[nodiscard]] Functions reachable(const std::vector<std::uint32_t>& from, bool upwards) const;

  const Measurement* measurement_;
  const cache::CallCache* store_; // null: the table is the part
  std::vector<bool> edges_;
};

struct Selected {
  CallSubset part;
  std::vector<std::uint32_t> calls; // of the part
};

// Calls of `function` that the selection admits, in the order of the table, whatever their state.
// The latency of an incomplete call is its lower bound.
[[nodiscard]] Selected select_calls(const Measurement& measurement, std::uint32_t function,
                                    const Selection& selection);
// The same of a part of the measurement that holds the way up as well.
[[nodiscard]] std::vector<std::uint32_t> select_calls(const Measurement& measurement,
                                                      const stacks::CallTable& calls,
                                                      std::uint32_t function,
                                                      const Selection& selection);

} // namespace ptlens::measure
