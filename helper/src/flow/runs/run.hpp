// What a decoder hands out at a time: the branches of one thread.
#pragma once

#include "base/interface.hpp"
#include "flow/branches/branch.hpp"
#include "flow/code/code_points.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ptlens::flow {

// What the BranchConsumer of a decoder made of the branches that the run therefore does not list.
// Its entries have positions between the branches of the run.
class ConsumedBranches : public Interface {
public:
  [[nodiscard]] virtual bool empty() const = 0;
  // Returns the number of entries that count towards the length of a run.
  [[nodiscard]] virtual std::size_t size() const = 0;
  // Returns the number of branches of the run before the first entry. Must not be empty.
  [[nodiscard]] virtual std::size_t branches_before() const = 0;
  // Returns the time of the first entry, ns. Must not be empty.
  [[nodiscard]] virtual std::uint64_t first_ns() const = 0;
  // Adjusts the positions after `count` branches were put before the first one; negative: removed.
  virtual void shift(std::ptrdiff_t count) = 0;
};

// A PSB+ at which decoding could begin. The output of other decoders is compared from there on.
struct SyncMark {
  std::size_t branches = 0;     // of the run, before the PSB+
  std::uint64_t psb_offset = 0; // in the trace fragment
};

// Branches of one thread on one CPU, without a break in between: threads migrate between runs only.
struct Run {
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
  std::uint64_t code = 0;      // serial of the version of code that the ids refer to, 0: none
  std::uint32_t numbering = 0; // ids of different numberings are unrelated
  std::uint64_t instructions = 0;
  std::vector<Branch> branches;
  std::unique_ptr<ConsumedBranches> consumed; // null without a consumer
  const CodePoints* points = nullptr;         // what the ids refer to; null where there are none
  std::vector<SyncMark> marks;                // where decoding began, in order

  [[nodiscard]] bool has_consumed() const { return consumed != nullptr && !consumed->empty(); }
  [[nodiscard]] bool empty() const { return branches.empty() && !has_consumed(); }
  [[nodiscard]] bool begins_with_branch() const {
    return !has_consumed() || consumed->branches_before() != 0;
  }
  // Adjusts positions after `count` branches were put before the first one; negative: removed.
  void shift_branches(std::ptrdiff_t count);
  // Returns the time of the first branch, listed or consumed. The run must not be empty.
  [[nodiscard]] std::uint64_t first_ns() const;
};

} // namespace ptlens::flow
