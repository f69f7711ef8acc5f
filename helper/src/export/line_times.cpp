// Line time as JSON and as a table.
#include "export/line_times.hpp"

#include "export/text/table.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ptlens::exporting {

namespace {

constexpr std::size_t most_blocks = 1000;
constexpr std::size_t most_ranges = 6;

// Returns the lines and callees whose time cannot be separated from the line's.
std::string shared_cell(const line_time::LineTime& time) {
  std::string text;
  if (const std::string lines = line_ranges(time.shared_with); !lines.empty()) {
    text = (time.shared_with.size() == 1 ? "line " : "lines ") + lines;
  }
  if (time.shared_with_others) {
    text += text.empty() ? "what it calls" : " and what it calls";
  }
  return text;
}

} // namespace

Json line_time_json(const line_time::LineTime& time, bool timed) {
  Json json = {{"line", time.line}, {"executions", time.executions}};
  const bool known = timed && time.is_known();
  json["at_least"] = timed ? Json(time.at_least) : Json(nullptr);
  json["at_most"] = timed ? Json(time.at_most) : Json(nullptr);
  json["time"] = known ? Json(time.time()) : Json(nullptr);
  json["resolution"] = known ? Json(time.uncertainty()) : Json(nullptr);
  json["shared_with"] = timed ? Json(time.shared_with) : Json::array();
  json["shared_with_others"] = timed && time.shared_with_others;
  return json;
}

Json line_times_json(const line_time::LineTimes* times) {
  if (times == nullptr) {
    return nullptr;
  }
  Json lines = Json::array();
  for (const line_time::LineTime& time : times->lines) {
    lines.push_back(line_time_json(time, times->timed));
  }
  Json blocks = Json::array();
  const std::size_t shown = times->timed ? std::min(times->blocks.size(), most_blocks) : 0;
  std::uint64_t left_out = 0;
  for (std::size_t index = 0; index < times->blocks.size() && times->timed; ++index) {
    const line_time::LineBlock& block = times->blocks[index];
    if (index < shown) {
      blocks.push_back({{"lines", block.lines}, {"others", block.others}, {"time", block.time}});
    } else {
      left_out += block.time;
    }
  }
  return {{"timed", times->timed},
          {"cut", times->cut},
          {"lines", std::move(lines)},
          {"blocks", std::move(blocks)},
          {"blocks_left_out", left_out}};
}

std::string line_times_text(const line_time::LineTimes* times) {
  if (times == nullptr) {
    return "\nNo line time: the recording was made with probes, which record only calls.\n";
  }
  Table table(
      {"line", "executions", "time", "±", "each", "at most", text_column("not separable from")});
  for (const line_time::LineTime& time : times->lines) {
    if (time.line == 0) {
      continue;
    }
    const bool known = times->timed && time.is_known();
    table.add(
        {fmt::format("{}", time.line), count(time.executions), known ? duration(time.time()) : "-",
         known ? duration(time.uncertainty()) : "-",
         known && time.executions > 0 ? duration(time.time() / as_double(time.executions)) : "-",
         times->timed ? duration(as_double(time.at_most)) : "-",
         times->timed && !known ? shared_cell(time) : ""});
  }
  std::string text = "\nTime of the lines themselves (without the functions that they call and "
                     "without off-CPU time)\n" +
                     table.text(2);
  if (!times->timed) {
    text += "  the trace has no timing packets: executions are counted, but times are unknown\n";
  }
  if (times->cut > 0) {
    text += fmt::format("  {} of code interrupted by lost trace: neither timed nor counted\n",
                        count(times->cut, "run"));
  }
  return text;
}

std::string line_ranges(std::span<const std::uint32_t> lines) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t first = 0; first < lines.size();) {
    std::size_t last = first;
    while (last + 1 < lines.size() && lines[last + 1] == lines[last] + 1) {
      ++last;
    }
    if (lines[first] == 0 && last == first) {
      ++first;
      continue;
    }
    const std::uint32_t begin = std::max(lines[first], 1U);
    if (++ranges > most_ranges) {
      return text + ", …";
    }
    text += text.empty() ? "" : ", ";
    text +=
        begin == lines[last] ? fmt::format("{}", begin) : fmt::format("{}–{}", begin, lines[last]);
    first = last + 1;
  }
  return text;
}

} // namespace ptlens::exporting
