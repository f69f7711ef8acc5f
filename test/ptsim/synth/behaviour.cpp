// Styles as probabilities.
#include "synth/behaviour.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ptlens::ptsim::synth {
namespace {

constexpr double heads = 1U << Random::coin_bits;

} // namespace

std::optional<Style> style_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Style>, 5> styles{
      {{"mixed", Style::mixed},
       {"branchy", Style::branchy},
       {"predictable", Style::predictable},
       {"call-heavy", Style::call_heavy},
       {"loop-heavy", Style::loop_heavy}}};
  for (const auto& [name, style] : styles) {
    if (name == word) {
      return style;
    }
  }
  return std::nullopt;
}

Behaviour::Behaviour(const CodeGraph& graph, Style style, std::size_t deepest, std::uint64_t seed,
                     std::uint64_t system_calls_every)
    : graph_(&graph), style_(style), deepest_(deepest), seed_(seed),
      taken_below_(graph.blocks().size(), 0) {
  Random random(seed);
  for (BlockId id = 0; id < graph.blocks().size(); ++id) {
    const Block& block = graph.block(id);
    if (block.end != End::conditional) {
      continue;
    }
    double taken = bias(graph, id, random);
    if (!graph.can_be_walked(block.next)) {
      taken = 1;
    } else if (!graph.can_be_walked(block.taken)) {
      taken = 0;
    } else if (graph.is_loud(block.taken) != graph.is_loud(block.next)) {
      const double rarely = 1.0 / static_cast<double>(system_calls_every);
      taken = graph.is_loud(block.taken) ? rarely : 1 - rarely;
    }
    taken_below_[id] = static_cast<std::uint16_t>(taken * heads);
  }
}

double Behaviour::bias(const CodeGraph& graph, BlockId id, Random& random) const {
  const Block& block = graph.block(id);
  const double level = static_cast<double>(random.below(1000)) / 1000;
  const double biased = random.chance(0.5) ? 0.02 + 0.02 * level : 0.96 + 0.02 * level;
  const auto calls = [&graph](BlockId to) {
    return to != no_block &&
           (graph.block(to).end == End::call || graph.block(to).end == End::indirect_call);
  };
  switch (style_) {
  case Style::mixed:
    return random.chance(0.6) ? biased : 0.1 + 0.8 * level;
  case Style::branchy:
    return 0.3 + 0.4 * level;
  case Style::predictable:
    return random.chance(0.95) ? biased : 0.3 + 0.4 * level;
  case Style::call_heavy:
    if (calls(block.taken) != calls(block.next)) {
      return calls(block.taken) ? 0.9 : 0.1;
    }
    return 0.2 + 0.6 * level;
  case Style::loop_heavy:
    return loop_bias(block, graph, random);
  }
  return level;
}

double Behaviour::loop_bias(const Block& block, const CodeGraph& graph, Random& random) const {
  const bool backward = block.taken != no_block && graph.block(block.taken).begin <= block.begin;
  const double level = static_cast<double>(random.below(1000)) / 1000;
  return backward ? 0.9 + 0.09 * level : 0.05 + 0.3 * level;
}

FunctionId Behaviour::target(BlockId site, Random& random) const {
  constexpr std::uint64_t usual_targets = 4;
  constexpr std::uint64_t unusual = 16; // one call of so many
  const std::uint64_t number = random.next();
  const auto usable = graph_->usable();
  std::uint64_t choice = number >> 16U;
  if (number % unusual != 0) {
    choice = mixed(seed_ + site * usual_targets + (number >> 8U) % usual_targets);
  }
  return usable[choice % usable.size()];
}

FunctionId Behaviour::cheap_target(Random& random) const {
  return graph_->cheap()[random.below(graph_->cheap().size())];
}

std::uint32_t Behaviour::whole_budget(Random& random) const {
  constexpr std::uint64_t largest_power = 14;
  const std::uint64_t power = random.between(1, largest_power); // as many small as large
  return static_cast<std::uint32_t>(random.below(std::uint64_t{1} << power));
}

std::uint32_t Behaviour::take_budget(std::uint32_t& caller, std::size_t depth,
                                     Random& random) const {
  if (depth >= deepest_) {
    return 0;
  }
  const unsigned share = style_ == Style::loop_heavy ? 8 : style_ == Style::call_heavy ? 1 : 2;
  const auto taken = static_cast<std::uint32_t>(random.below(caller / share + 1));
  caller -= taken;
  return taken;
}

} // namespace ptlens::ptsim::synth
