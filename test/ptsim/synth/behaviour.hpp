// The behaviour of the walked program: the usual direction of each branch, the callees of each call
// site, and the length of functions. All of it follows from the seed.
#pragma once

#include "synth/code_graph.hpp"
#include "synth/random.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ptlens::ptsim::synth {

enum class Style : std::uint8_t { mixed, branchy, predictable, call_heavy, loop_heavy };

// "branchy" and so on; nothing for other words.
[[nodiscard]] std::optional<Style> style_of(std::string_view word);

class Behaviour {
public:
  // In a quiet graph, a path to a system call is taken once in `system_calls_every` times when the
  // other path does not lead to one.
  Behaviour(const CodeGraph& graph, Style style, std::size_t deepest, std::uint64_t seed,
            std::uint64_t system_calls_every);

  // Returns whether the conditional branch at the end of the block is taken. The path can be
  // walked.
  [[nodiscard]] bool takes(BlockId id, Random& random) const {
    return random.coin() < taken_below_[id];
  }

  // Whom the indirect call or tail call at the end of the block calls: mostly one of a few.
  [[nodiscard]] FunctionId target(BlockId site, Random& random) const;
  [[nodiscard]] FunctionId cheap_target(Random& random) const;

  // Returns the number of decisions of a call from the bottom of the stack, including its own
  // calls, before all of them return as soon as possible. take_budget() returns the decisions that
  // a call at that depth takes from its caller's.
  [[nodiscard]] std::uint32_t whole_budget(Random& random) const;
  std::uint32_t take_budget(std::uint32_t& caller, std::size_t depth, Random& random) const;

private:
  [[nodiscard]] double bias(const CodeGraph& graph, BlockId id, Random& random) const;
  [[nodiscard]] double loop_bias(const Block& block, const CodeGraph& graph, Random& random) const;

  const CodeGraph* graph_;
  Style style_;
  std::size_t deepest_;
  std::uint64_t seed_;
  std::vector<std::uint16_t> taken_below_; // of coins
};

} // namespace ptlens::ptsim::synth
