// Longest common subsequence: dynamic programming, Wagner and Fischer (1974). Long sequences are
// cut, so that the time is bounded.
#include "measure/timeline/twin.hpp"

#include "base/distance.hpp"
#include "measure/timeline/call_tree.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::measure {

namespace {

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
  children.resize(std::min(children.size(), most_compared_children));
  return children;
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

std::size_t most_alike(const stacks::CallTable& table, std::uint32_t row,
                       std::span<const std::uint32_t> others) {
  const std::vector<std::uint32_t> children = first_children(table, row);
  std::size_t best = 0;
  std::pair<std::uint32_t, bool> most; // length of the common subsequence, on the same thread
  for (std::size_t at = 0; at < others.size(); ++at) {
    const std::pair<std::uint32_t, bool> alike = {
        lengths(table, children, first_children(table, others[at]))[0][0],
        table.thread[others[at]] == table.thread[row]};
    if (at == 0 || alike > most) {
      best = at;
      most = alike;
    }
  }
  return best;
}

Twin compare(const stacks::CallTable& table, std::uint32_t row, std::uint32_t twin_row) {
  Twin twin{.row = twin_row,
            .same_caller = table.site[twin_row] == table.site[row],
            .same_thread = table.thread[twin_row] == table.thread[row],
            .calls = align_children(table, row, twin_row)};
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
