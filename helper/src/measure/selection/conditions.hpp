// The conditions of a selection that need more than one call: who called, how often a function was
// called, and which calls are above.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/ancestry.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Decides by edge: an edge has one caller and one call site.
class CallerCheck {
public:
  CallerCheck(const Measurement& measurement, const Selection& selection);

  [[nodiscard]] bool accepts(const cache::Edge& edge) const;

private:
  struct Caller {
    const CallerCondition* condition = nullptr;
    std::vector<stacks::FunctionId> functions; // ascending
  };
  [[nodiscard]] bool is_made_by(const Caller& caller, const cache::Edge& edge) const;

  const Measurement& measurement_;
  std::vector<Caller> callers_;
  bool any_positive_ = false;
};

// Finds, for one thread at a time, which calls have the ancestors that a selection names.
class AncestorCheck {
public:
  // `functions`: whose calls are asked about.
  AncestorCheck(const Measurement& measurement, std::span<const stacks::FunctionId> functions,
                const Selection& selection);

  void enter(std::uint32_t thread);
  // Returns whether a call made in `parent` has all ancestors.
  [[nodiscard]] bool accepts(stacks::CallId parent) const { return ancestry_.of(parent) == all_; }

private:
  struct Ancestor {
    Marks mark = 0;
    Interval latency;
    std::vector<cache::EdgeId> edges; // of its calls
  };

  const cache::CallCache& cache_;
  std::vector<Ancestor> ancestors_;
  Marks all_ = 0;
  std::vector<cache::EdgeId> edges_; // on a path to an ancestor
  Ancestry ancestry_;
};

// Counts, for one thread at a time, the calls that calls made of the functions that a selection
// names.
class CallCounts {
public:
  CallCounts(const Measurement& measurement, std::span<const stacks::FunctionId> functions,
             const Selection& selection);

  void enter(std::uint32_t thread);
  [[nodiscard]] bool accepts(stacks::CallId call) const {
    const std::uint32_t order = index_of(call);
    return order < fulfilled_.size() && fulfilled_[order] == required_;
  }

private:
  struct Called {
    Interval count;
    std::vector<cache::EdgeId> edges;
  };
  void count(const Called& called, std::uint32_t thread);

  const cache::CallCache& cache_;
  std::vector<Called> called_;
  std::uint8_t required_ = 0;           // conditions that calls without such calls do not fulfil
  std::vector<std::uint8_t> fulfilled_; // by order: how many of these; `failed`: never all
  std::vector<std::uint32_t> counts_;   // by order
};

} // namespace ptlens::measure
