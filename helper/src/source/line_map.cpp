// The patience diff works on lists of checksums.
#include "source/line_map.hpp"

#include <algorithm>
#include <unordered_map>

namespace ptlens::source {
namespace {

using Sums = std::span<const std::uint32_t>;

struct Region { // [first, end) of both texts
  std::size_t first_before;
  std::size_t end_before;
  std::size_t first_now;
  std::size_t end_now;

  [[nodiscard]] bool one_is_empty() const {
    return first_before == end_before || first_now == end_now;
  }
};

struct Pair {
  std::size_t before;
  std::size_t now;
};

// Returns the lines that occur once in each text, in the order of the earlier text.
std::vector<Pair> unique_lines(Sums before, Sums now, const Region& region) {
  struct Seen {
    std::size_t count_before = 0;
    std::size_t count_now = 0;
    std::size_t at_now = 0;
  };
  std::unordered_map<std::uint32_t, Seen> seen;
  for (std::size_t at = region.first_before; at < region.end_before; ++at) {
    ++seen[before[at]].count_before;
  }
  for (std::size_t at = region.first_now; at < region.end_now; ++at) {
    if (const auto found = seen.find(now[at]); found != seen.end()) {
      ++found->second.count_now;
      found->second.at_now = at;
    }
  }
  std::vector<Pair> pairs;
  for (std::size_t at = region.first_before; at < region.end_before; ++at) {
    const Seen& line = seen[before[at]];
    if (line.count_before == 1 && line.count_now == 1) {
      pairs.push_back({.before = at, .now = line.at_now});
    }
  }
  return pairs;
}

// Returns the longest subsequence whose lines in the later text ascend.
std::vector<Pair> longest_ascent(const std::vector<Pair>& pairs) {
  std::vector<std::size_t> tails; // of the best ascent of each length, indices into pairs
  std::vector<std::size_t> previous(pairs.size(), pairs.size());
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    const auto at = std::ranges::lower_bound(tails, pairs[index].now, {},
                                             [&](std::size_t tail) { return pairs[tail].now; });
    if (at != tails.begin()) {
      previous[index] = *(at - 1);
    }
    if (at == tails.end()) {
      tails.push_back(index);
    } else {
      *at = index;
    }
  }
  std::vector<Pair> ascent;
  for (std::size_t index = tails.empty() ? pairs.size() : tails.back(); index < pairs.size();
       index = previous[index]) {
    ascent.push_back(pairs[index]);
  }
  std::ranges::reverse(ascent);
  return ascent;
}

} // namespace

LineMap::LineMap(Sums before, Sums now) : now_(before.size()), before_(now.size()) {
  const auto pair = [&](std::size_t line_before, std::size_t line_now) {
    const bool same = before[line_before] == now[line_now];
    now_[line_before] = {.number = static_cast<std::uint32_t>(line_now + 1), .same = same};
    before_[line_now] = {.number = static_cast<std::uint32_t>(line_before + 1), .same = same};
  };
  std::vector<Region> regions = {
      {.first_before = 0, .end_before = before.size(), .first_now = 0, .end_now = now.size()}};
  while (!regions.empty()) {
    Region region = regions.back();
    regions.pop_back();
    while (!region.one_is_empty() && before[region.first_before] == now[region.first_now]) {
      pair(region.first_before++, region.first_now++);
    }
    while (!region.one_is_empty() && before[region.end_before - 1] == now[region.end_now - 1]) {
      pair(--region.end_before, --region.end_now);
    }
    if (region.one_is_empty()) {
      continue;
    }
    const std::vector<Pair> anchors = longest_ascent(unique_lines(before, now, region));
    if (anchors.empty()) {
      if (region.end_before - region.first_before == region.end_now - region.first_now) {
        while (!region.one_is_empty()) {
          pair(region.first_before++, region.first_now++);
        }
      }
      continue;
    }
    Region rest = region;
    for (const Pair& anchor : anchors) {
      regions.push_back({.first_before = rest.first_before,
                         .end_before = anchor.before,
                         .first_now = rest.first_now,
                         .end_now = anchor.now});
      pair(anchor.before, anchor.now);
      rest.first_before = anchor.before + 1;
      rest.first_now = anchor.now + 1;
    }
    regions.push_back(rest);
  }
}

std::optional<LineMap::Line> LineMap::now(std::uint32_t before) const {
  if (before == 0 || before > now_.size() || now_[before - 1].number == 0) {
    return std::nullopt;
  }
  return now_[before - 1];
}

std::optional<LineMap::Line> LineMap::before(std::uint32_t now) const {
  if (now == 0 || now > before_.size() || before_[now - 1].number == 0) {
    return std::nullopt;
  }
  return before_[now - 1];
}

bool LineMap::intact(std::uint32_t first, std::uint32_t last) const {
  const auto begin = now(first);
  if (!begin) {
    return false;
  }
  for (std::uint32_t line = first; line <= last; ++line) {
    const auto at = now(line);
    if (!at || !at->same || at->number != begin->number + (line - first)) {
      return false;
    }
  }
  return true;
}

} // namespace ptlens::source
