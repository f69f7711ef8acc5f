// Compares the branches of two decoders in one trace fragment: it merges the PSBs at which both
// started, then compares branch by branch.
#pragma once

#include "flow/reference/reference_decoder.hpp"
#include "flow/runs/run.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::engine {

struct Difference {
  std::int32_t cpu = -1;    // of the buffer, -1 in a per-thread buffer
  std::int32_t tid = -1;    // of our branch, -1 where there is none
  std::uint64_t offset = 0; // in the buffer's trace, bytes: the position of the reference
  std::string ours;         // our branch, or a description where there is none
  std::string reference;
  std::vector<std::string> before; // the last equal branches, oldest first
};

struct Verdict {
  std::uint64_t compared = 0;           // equal branches
  std::uint64_t unjudged = 0;           // our branches where the reference had stopped
  std::uint64_t given_up = 0;           // the number of times that the reference stopped
  std::uint64_t pieces = 0;             // trace fragments
  std::optional<Difference> difference; // the first one; its offset is in the fragment
};

struct Streams {
  std::function<std::optional<flow::Run>()> ours;
  std::function<std::optional<flow::ReferenceDecoder::Event>()> reference;
  // Returns whether the code at one of our gaps is really missing.
  std::function<bool(const flow::Run& run, const flow::Branch& gap)> code_is_missing;
};

// Adds to the verdict, up to the first difference or until `cancelled` returns true.
void compare(const Streams& streams, const std::function<bool()>& cancelled, Verdict& verdict);

} // namespace ptlens::engine
