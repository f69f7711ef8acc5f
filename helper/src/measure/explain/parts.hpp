// The parts of calls at one level of the call tree, summed per slow and per typical call of the
// explained function. The first level contains those calls themselves; a lower level contains the
// calls of one function from one call site that a level made.
#pragma once

#include "measure/explain/explanation.hpp"
#include "measure/explain/numbered_calls.hpp"
#include "measure/explain/slow_and_typical.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// The slow and the typical calls of the explained function, numbered from 0.
struct Owners {
  static constexpr std::uint32_t none = NumberedCalls::none;

  explicit Owners(const FunctionCalls& calls);

  [[nodiscard]] std::size_t size() const { return call.size(); }
  [[nodiscard]] bool is_slow(std::uint32_t owner) const { return calls->is_slow(call[owner]); }
  [[nodiscard]] bool is_typical(std::uint32_t owner) const {
    return calls->is_typical(call[owner]);
  }

  const FunctionCalls* calls;
  std::vector<std::uint32_t> call; // the number of each
  std::vector<std::uint32_t> of;   // by number of a call: its owner, or none
};

// Off-CPU time in a call of the explained function.
struct OffCpuTime {
  std::uint32_t owner = 0;
  double blocked = 0;   // ns
  double preempted = 0; // ns
};

// What calls took in each call of the explained function.
struct Times {
  std::vector<double> latency;     // ns, by owner
  std::vector<OffCpuTime> off_cpu; // of the calls that were off the CPU
};

// The calls of a level.
struct Level {
  stacks::FunctionId function{};
  const NumberedCalls* index = nullptr;
  std::span<const std::uint32_t> owner; // by number of a call: its call of the explained function
  const Times* times = nullptr;         // with the time in callees
};

// A level below the first, with its calls.
struct LowerLevel {
  stacks::FunctionId function{};
  NumberedCalls index;
  std::vector<std::uint32_t> owner;
  Times times;

  [[nodiscard]] Level level() const {
    return {.function = function, .index = &index, .owner = owner, .times = &times};
  }
};

// The value of a part in one slow or typical call.
struct PartValue {
  std::uint32_t owner = 0;
  std::uint32_t count = 0; // child: calls
  double time = 0;         // ns
};

struct PartValues {
  Part part;
  cache::EdgeId edge{};          // child: that its calls are on
  std::vector<PartValue> values; // those that are not 0
};

// Returns the key of the part that the calls on an edge are.
[[nodiscard]] PartKey part_key(const Measurement& measurement, cache::EdgeId edge);

class PartReader {
public:
  // `calls` and `measurement` must outlive the object.
  PartReader(const Measurement& measurement, const FunctionCalls& calls);

  [[nodiscard]] const Owners& owners() const { return owners_; }
  // Returns the level of the explained function's own calls. It is valid as long as the object.
  [[nodiscard]] Level top(stacks::FunctionId function) const;
  // Returns the level of the calls on an edge that the calls of `level` made.
  [[nodiscard]] LowerLevel below(const Level& level, cache::EdgeId edge) const;
  // Returns the parts of the level's calls, largest delta first. They sum to the latencies of the
  // calls.
  [[nodiscard]] std::vector<PartValues> read(const Level& level) const;

private:
  struct Children;

  [[nodiscard]] Children children_on(const Level& level, cache::EdgeId edge,
                                     std::vector<PartValue>& sums) const;
  [[nodiscard]] std::vector<Children> all_children(const Level& level) const;
  void finish(PartValues& values) const;

  const Measurement& measurement_;
  const cache::CallCache& cache_;
  const FunctionCalls& calls_;
  Owners owners_;
  Times times_; // of the explained function's calls
};

} // namespace ptlens::measure
