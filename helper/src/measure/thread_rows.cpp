#include "measure/thread_rows.hpp"

#include <map>
#include <set>
#include <utility>

namespace ptlens::measure {

std::vector<std::uint32_t> first_rows(std::span<const stacks::ThreadInfo> rows) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> first;
  std::vector<std::uint32_t> result;
  result.reserve(rows.size());
  for (const stacks::ThreadInfo& row : rows) {
    const auto number = static_cast<std::uint32_t>(result.size());
    result.push_back(first.try_emplace({row.pid, row.tid}, number).first->second);
  }
  return result;
}

std::size_t count_threads(std::span<const stacks::ThreadInfo> rows) {
  const std::vector<std::uint32_t> first = first_rows(rows);
  return std::set<std::uint32_t>(first.begin(), first.end()).size();
}

} // namespace ptlens::measure
