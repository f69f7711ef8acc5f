// Computes the bounds of each line from the times of the sets that contain it.
#include "line_time/line_times.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace ptlens::line_time {

namespace {

std::vector<LineBlock> blocks_of(const TimedLines& walked) {
  std::vector<LineBlock> blocks;
  for (std::uint32_t set = 0; set < walked.times.size(); ++set) {
    if (walked.times[set] == 0) {
      continue;
    }
    LineBlock block{.lines = {}, .others = set == LineSets::everything, .time = walked.times[set]};
    for (const std::uint32_t member : walked.sets().members(set)) {
      if (member == LineSets::elsewhere) {
        block.others = true;
      } else {
        block.lines.push_back(walked.lines()[member]);
      }
    }
    if (set == LineSets::everything) {
      block.lines = walked.lines();
    }
    blocks.push_back(std::move(block));
  }
  std::ranges::sort(blocks, [](const LineBlock& one, const LineBlock& other) {
    return std::tie(other.time, one.lines) < std::tie(one.time, other.lines);
  });
  return blocks;
}

struct Shared {             // of one line
  std::uint64_t listed = 0; // ns
  std::set<std::uint32_t> with;
  bool with_others = false;
};

} // namespace

double LineTime::time() const {
  return static_cast<double>(at_least) + uncertainty();
}

double LineTime::uncertainty() const {
  return static_cast<double>(at_most - at_least) / 2;
}

const LineTime* LineTimes::find(std::uint32_t line) const {
  const auto at = std::ranges::lower_bound(lines, line, {}, &LineTime::line);
  return at != lines.end() && at->line == line ? &*at : nullptr;
}

LineTimes line_times(const TimedLines& walked, bool timed) {
  LineTimes result{.timed = timed, .cut = walked.cut, .lines = {}, .blocks = blocks_of(walked)};
  const std::vector<std::uint32_t>& lines = walked.lines();
  std::vector<LineTime> all(lines.size());
  const auto row_of = [&](std::uint32_t line) {
    return static_cast<std::size_t>(std::ranges::lower_bound(lines, line) - lines.begin());
  };
  for (std::size_t row = 0; row < all.size(); ++row) {
    all[row].line = lines[row];
    all[row].executions = walked.executions[row];
  }
  for (const LineBlock& block : result.blocks) {
    const bool alone = block.lines.size() == 1 && !block.others;
    for (const std::uint32_t line : block.lines) {
      LineTime& time = all[row_of(line)];
      time.at_most += block.time;
      time.at_least += alone ? block.time : 0;
    }
  }
  std::vector<Shared> shared(all.size());
  for (const LineBlock& block : result.blocks) { // largest first
    if (block.lines.size() == 1 && !block.others) {
      continue;
    }
    for (const std::uint32_t line : block.lines) {
      const std::size_t row = row_of(line);
      const std::uint64_t open = all[row].at_most - all[row].at_least;
      Shared& own = shared[row];
      if (own.listed >= open - open / 20) {
        continue;
      }
      own.listed += block.time;
      own.with_others = own.with_others || block.others;
      own.with.insert(block.lines.begin(), block.lines.end());
    }
  }
  for (std::size_t row = 0; row < all.size(); ++row) {
    if (all[row].executions == 0 && all[row].at_most == 0) {
      continue;
    }
    shared[row].with.erase(all[row].line);
    all[row].shared_with.assign(shared[row].with.begin(), shared[row].with.end());
    all[row].shared_with_others = shared[row].with_others;
    result.lines.push_back(std::move(all[row]));
  }
  return result;
}

} // namespace ptlens::line_time
