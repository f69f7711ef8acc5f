// What one decoder hands out at a time: a thread's branches, and calls that came back between them.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/returned_call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::flow {

// A PSB+ at which decoding could begin anew: other decoders' output is compared from there on.
struct SyncMark {
  std::size_t branches = 0;     // of the run, before it
  std::uint64_t psb_offset = 0; // in the piece of trace
};

// Branches of one thread on one CPU, without a break in between: threads migrate between runs only.
struct Run {
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
  std::uint64_t code = 0;      // serial of the version of code whose numbers they bear, 0: none
  std::uint32_t numbering = 0; // each has numbers of its own
  std::uint64_t instructions = 0;
  std::vector<Branch> branches;
  std::vector<ReturnedCall> returned; // with Detail::folded
  std::vector<ReturnedCalls> returned_parts;
  const CodePoints* points = nullptr; // what the numbers stand for; null where there are none
  std::vector<SyncMark> marks;        // where decoding began, in order

  [[nodiscard]] bool empty() const { return branches.empty() && returned_parts.empty(); }
  [[nodiscard]] std::span<const ReturnedCall> calls_of(const ReturnedCalls& part) const {
    return std::span(returned).subspan(part.begin, part.end - part.begin);
  }
  // Not by a call that came back.
  [[nodiscard]] bool begins_with_branch() const {
    return returned_parts.empty() || returned_parts.front().branches != 0;
  }
  // So many branches were put before the first, or taken from there.
  void shift_branches(std::ptrdiff_t count);
  // Of the first that it tells. It must not be empty.
  [[nodiscard]] std::uint64_t first_ns() const;
};

// Tells all calls by their branches instead. Marks are forgotten.
void unfold(Run& run);

} // namespace ptlens::flow
