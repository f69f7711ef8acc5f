// Threads of a process mostly have neighbouring numbers, so that ranges make the filter short and
// quick.
#include "record/probes/events/thread_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ptlens::record {
namespace {

struct Range {
  std::int32_t first = 0;
  std::int32_t last = 0;
};

std::vector<Range> ranges_of(const std::set<std::int32_t>& threads, std::int32_t widest_gap) {
  std::vector<Range> ranges;
  for (const std::int32_t tid : threads) {
    if (!ranges.empty() && tid - ranges.back().last - 1 <= widest_gap) {
      ranges.back().last = tid;
    } else {
      ranges.push_back({.first = tid, .last = tid});
    }
  }
  return ranges;
}

std::string any_of(const std::vector<Range>& ranges) {
  std::string text;
  for (const auto& [first, last] : ranges) {
    text += text.empty() ? "" : "||";
    text += first == last ? fmt::format("pid=={}", first)
                          : fmt::format("(pid>={}&&pid<={})", first, last);
  }
  return text;
}

std::string none_of(const std::vector<Range>& ranges) {
  std::string text;
  for (const auto& [first, last] : ranges) {
    text += first == last ? fmt::format("&&common_pid!={}", first)
                          : fmt::format("&&(common_pid<{}||common_pid>{})", first, last);
  }
  return text;
}

// Returns the numbers that lie between neighbours, each once, ascending.
std::vector<std::int32_t> gaps_in(const std::set<std::int32_t>& threads) {
  std::set<std::int32_t> gaps;
  std::int32_t before = *threads.begin() - 1;
  for (const std::int32_t tid : threads) {
    gaps.insert(tid - before - 1);
    before = tid;
  }
  return {gaps.begin(), gaps.end()};
}

} // namespace

std::string filter_of_outside_wakings(const std::set<std::int32_t>& threads) {
  const std::vector<Range> exact = ranges_of(threads, 0);
  std::string woken = any_of(exact);
  if (woken.size() > longest_filter) {
    const std::vector<std::int32_t> gaps = gaps_in(threads);
    const auto fitting = std::ranges::partition_point(gaps, [&](std::int32_t gap) {
      return any_of(ranges_of(threads, gap)).size() > longest_filter;
    });
    woken = any_of(ranges_of(threads, *fitting));
  }
  const std::string filter = fmt::format("({}){}", woken, none_of(exact));
  return filter.size() <= longest_filter ? filter : woken;
}

} // namespace ptlens::record
