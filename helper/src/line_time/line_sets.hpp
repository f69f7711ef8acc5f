// Sets of source lines: the lines in a stretch of code, or the lines that may have run at a time.
// Equal sets have the same number. The number of sets is bounded: beyond it, a set represents all
// lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptlens::line_time {

class LineSets {
public:
  // Members are numbers of lines, and this number for code that is not timed.
  static constexpr std::uint32_t elsewhere = UINT32_MAX;

  // Sets that always exist.
  static constexpr std::uint32_t only_elsewhere = 0;
  static constexpr std::uint32_t everything =
      1; // all lines and elsewhere; its members are not stored

  explicit LineSets(std::size_t most_members = std::size_t{1} << 22U);

  // Returns the set of the members, which are ascending and different; there is at least one.
  [[nodiscard]] std::uint32_t of(std::vector<std::uint32_t> members);
  [[nodiscard]] std::uint32_t unite(std::uint32_t one, std::uint32_t other) {
    return one == other ? one : united(one, other);
  }
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t set) const {
    return sets_[set];
  }
  [[nodiscard]] std::size_t size() const { return sets_.size(); }

private:
  [[nodiscard]] std::uint32_t united(std::uint32_t one, std::uint32_t other);

  std::size_t most_members_;
  std::size_t member_count_ = 0;
  std::vector<std::vector<std::uint32_t>> sets_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> unions_; // by the numbers of two
};

} // namespace ptlens::line_time
