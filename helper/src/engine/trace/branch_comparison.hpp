// Two decoders' branches of one piece of trace against each other: a merge over the PSBs at which
// both began, then branch by branch.
#pragma once

#include "flow/runs/run.hpp"
#include "flow/reference/reference_decoder.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::engine {

struct Difference {
  std::int32_t cpu = -1;    // of the buffer, -1 in a per-thread buffer
  std::int32_t tid = -1;    // that ours gives the branch to, -1 where it has none there
  std::uint64_t offset = 0; // in the buffer's trace, bytes: how far the reference had read
  std::string ours;         // a branch, or what stands in its place
  std::string reference;
  std::vector<std::string> before; // the last branches that both tell, oldest first
};

struct Verdict {
  std::uint64_t compared = 0;           // branches that both tell
  std::uint64_t unjudged = 0;           // of ours, where the reference had given up
  std::uint64_t given_up = 0;           // times that the reference did
  std::uint64_t pieces = 0;             // of trace
  std::optional<Difference> difference; // the first; its offset is in the piece
};

struct Streams {
  std::function<std::optional<flow::Run>()> ours;
  std::function<std::optional<flow::ReferenceDecoder::Event>()> reference;
  // Whether the code that one of our gaps names is missing indeed.
  std::function<bool(const flow::Run& run, const flow::Branch& gap)> code_is_missing;
};

// Adds to the verdict, up to the first difference or until `cancelled`.
void compare(const Streams& streams, const std::function<bool()>& cancelled, Verdict& verdict);

} // namespace ptlens::engine
