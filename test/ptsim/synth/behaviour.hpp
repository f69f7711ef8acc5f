// How the walked program behaves: which way each branch mostly goes, whom each call site calls, how
// long functions go on before they return. All of it follows from the seed.
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
  // Of two ways of which one alone leads to a system call, that is taken once in
  // `system_calls_every` times; in a quiet graph.
  Behaviour(const CodeGraph& graph, Style style, std::size_t deepest, std::uint64_t seed,
            std::uint64_t system_calls_every);

  // Whether the conditional branch that ends the block is taken. Only ways that can be walked are.
  [[nodiscard]] bool takes(BlockId id, Random& random) const {
    return random.coin() < taken_below_[id];
  }

  // Whom the indirect call or tail call at the end of the block calls: mostly one of a few.
  [[nodiscard]] FunctionId target(BlockId site, Random& random) const;
  [[nodiscard]] FunctionId cheap_target(Random& random) const;

  // Decisions that a call from the bottom of the stack takes, its own calls included, before all
  // look for the way out; and those that a call at that depth takes from its caller's.
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
