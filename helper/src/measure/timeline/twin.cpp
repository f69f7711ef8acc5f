// Longest common subsequence: dynamic programming, Wagner and Fischer (1974). Long sequences are
// cut, so that the time is bounded.
#include "measure/timeline/twin.hpp"

#include "measure/timeline/call_tree.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace ptlens::measure {

namespace {

constexpr std::size_t most_candidates = 64;
constexpr std::size_t most_children = 512;

bool is_same(const stacks::CallTable& table, std::uint32_t one, std::uint32_t other) {
  return table.function[one] == table.function[other] && table.site[one] == table.site[other];
}

// Returns the lengths of the common subsequences of the rests from each pair of positions.
std::vector<std::vector<std::uint32_t>> lengths(const stacks::CallTable& table,
                                                std::span<const std::uint32_t> one,
                                                std::span<const std::uint32_t> other) {
  std::vector<std::vector<std::uint32_t>> length(one.size() + 1,
                                                 std::vector<std::uint32_t>(other.size() + 1));
  for (std::size_t i = one.size(); i-- > 0;) {
    for (std::size_t j = other.size(); j-- > 0;) {
      length[i][j] = is_same(table, one[i], other[j])
                         ? length[i + 1][j + 1] + 1
                         : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  return length;
}

std::vector<std::uint32_t> first_children(const stacks::CallTable& table, std::uint32_t row) {
  std::vector<std::uint32_t> children = children_of(table, row);
  children.resize(std::min(children.size(), most_children));
  return children;
}

std::uint64_t distance(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

// Returns the typical calls of the function, the best candidates first: those with the same caller
// and thread, then those nearest to the median latency.
std::vector<std::uint32_t> candidates(const stacks::CallTable& table, std::uint32_t row) {
  std::vector<std::uint32_t> complete;
  for (std::uint32_t at = 0; at < table.size(); ++at) {
    if (at != row && table.function[at] == table.function[row] &&
        table.state[at] == stacks::CallState::complete) {
      complete.push_back(at);
    }
  }
  if (complete.empty()) {
    return {};
  }
  std::ranges::stable_sort(complete, {}, [&](std::uint32_t at) { return table.latency[at]; });
  const auto rank = [&](double share) {
    const double at = std::ceil(share * static_cast<double>(complete.size()));
    return static_cast<std::size_t>(std::max(at, 1.0)) - 1;
  };
  const std::uint64_t median = table.latency[complete[rank(0.5)]];
  const std::uint64_t low = table.latency[complete[rank(0.4)]];
  const std::uint64_t high = table.latency[complete[rank(0.6)]];
  std::vector<std::uint32_t> typical = std::move(complete);
  std::erase_if(typical, [&](std::uint32_t at) {
    return table.latency[at] < low || table.latency[at] > high;
  });
  std::ranges::stable_sort(typical, {}, [&](std::uint32_t at) {
    return std::tuple(table.site[at] != table.site[row], table.thread[at] != table.thread[row],
                      distance(table.latency[at], median));
  });
  const bool has_same_caller = table.site[typical.front()] == table.site[row];
  std::erase_if(typical, [&](std::uint32_t at) {
    return has_same_caller && table.site[at] != table.site[row];
  });
  typical.resize(std::min(typical.size(), most_candidates));
  return typical;
}

std::uint64_t latency(const stacks::CallTable& table, std::uint32_t row) {
  return row == AlignedCall::none ? 0 : table.latency[row];
}

} // namespace

std::vector<AlignedCall> align(const stacks::CallTable& table, std::span<const std::uint32_t> one,
                               std::span<const std::uint32_t> other) {
  const auto length = lengths(table, one, other);
  std::vector<AlignedCall> aligned;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < one.size() || j < other.size()) {
    if (i < one.size() && j < other.size() && is_same(table, one[i], other[j])) {
      aligned.push_back({.row = one[i++], .twin_row = other[j++]});
    } else if (j == other.size() || (i < one.size() && length[i + 1][j] >= length[i][j + 1])) {
      aligned.push_back({.row = one[i++]});
    } else {
      aligned.push_back({.twin_row = other[j++]});
    }
  }
  return aligned;
}

std::vector<AlignedCall> align_children(const stacks::CallTable& table, std::uint32_t one,
                                        std::uint32_t other) {
  return align(table, first_children(table, one), first_children(table, other));
}

std::optional<Twin> find_twin(const stacks::CallTable& table, std::uint32_t row) {
  const std::vector<std::uint32_t> children = first_children(table, row);
  std::optional<std::uint32_t> best;
  std::vector<std::uint32_t> of_best;
  std::pair<bool, std::uint32_t> score; // on the same thread, length of the common subsequence
  for (const std::uint32_t at : candidates(table, row)) {
    std::vector<std::uint32_t> made = first_children(table, at);
    const std::pair<bool, std::uint32_t> reached = {table.thread[at] == table.thread[row],
                                                    lengths(table, children, made)[0][0]};
    const auto better = [](const auto& one, const auto& other) {
      return std::pair(one.second, one.first) > std::pair(other.second, other.first);
    };
    if (!best || better(reached, score)) {
      best = at;
      score = reached;
      of_best = std::move(made);
    }
  }
  if (!best) {
    return std::nullopt;
  }
  Twin twin{.row = *best,
            .same_caller = table.site[*best] == table.site[row],
            .same_thread = score.first,
            .calls = align(table, children, of_best)};
  for (std::size_t at = 0; at < twin.calls.size(); ++at) {
    const AlignedCall& call = twin.calls[at];
    if (!call.in_both() && !twin.first_divergence) {
      twin.first_divergence = at;
    }
    const auto difference = [&table](const AlignedCall& each) {
      return distance(latency(table, each.row), latency(table, each.twin_row));
    };
    if (!twin.largest_difference ||
        difference(call) > difference(twin.calls[*twin.largest_difference])) {
      twin.largest_difference = at;
    }
  }
  return twin;
}

} // namespace ptlens::measure
