// Each row has a bar from start to end. Full blocks: on a CPU; light ones: off; dots: lost.
#include "export/timeline/timeline_text.hpp"

#include "export/call_figures.hpp"
#include "export/explain/sentence.hpp"
#include "export/text/loss.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"
#include "export/waits/wait_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ptlens::exporting {
namespace {

using measure::AlignedCall;
using measure::Measurement;
using measure::Timeline;

constexpr std::size_t drawing_width = 40;
constexpr std::size_t most_timeline_rows = 60;
constexpr const char* on_cpu = "\u2588";
constexpr const char* off_cpu = "\u2591";
constexpr const char* lost = "\u00b7";

std::string time_text(std::uint64_t ns) {
  return duration(as_double(ns));
}

class Drawing {
public:
  explicit Drawing(const Timeline& timeline)
      : timeline_(timeline), begin_(timeline.subset.calls().start[timeline.row]),
        length_(std::max<std::uint64_t>(timeline.subset.calls().wall(timeline.row), 1)) {}

  // Returns the bar of [begin, end). `of_call`: its waits and its lost time are drawn.
  [[nodiscard]] std::string bar(std::uint64_t begin, std::uint64_t end, bool of_call) const {
    const std::size_t from = column(begin);
    const std::size_t to = std::max(column(end), from + 1);
    std::string text(from, ' ');
    for (std::size_t at = from; at < std::min(to, drawing_width); ++at) {
      text += of_call ? mark(at) : on_cpu;
    }
    return text;
  }

private:
  [[nodiscard]] std::size_t column(std::uint64_t when) const {
    const std::uint64_t within = std::clamp(when, begin_, begin_ + length_) - begin_;
    const double part = static_cast<double>(within) / static_cast<double>(length_);
    return std::min(static_cast<std::size_t>(part * static_cast<double>(drawing_width)),
                    drawing_width - 1);
  }
  // Returns the letter for what the thread did in the middle of the column.
  [[nodiscard]] const char* mark(std::size_t at) const {
    const double part = (static_cast<double>(at) + 0.5) / static_cast<double>(drawing_width);
    const auto when = begin_ + static_cast<std::uint64_t>(part * static_cast<double>(length_));
    const auto is_in = [when](std::uint64_t begin, std::uint64_t end) {
      return begin <= when && when < end;
    };
    if (std::ranges::any_of(timeline_.waits, [&](const measure::TimelineWait& wait) {
          return is_in(wait.begin, wait.end);
        })) {
      return off_cpu;
    }
    const bool is_lost = std::ranges::any_of(
        timeline_.lost, [&](const stacks::Gap& gap) { return is_in(gap.first, gap.second); });
    return is_lost ? lost : on_cpu;
  }

  const Timeline& timeline_;
  std::uint64_t begin_;
  std::uint64_t length_;
};

std::string nested_text(const Measurement& measurement, const Timeline& timeline,
                        const Drawing& drawing) {
  const stacks::CallTable& calls = timeline.subset.calls();
  Table table({text_column(""), "latency", "off-CPU", text_column(""), text_column("")});
  const std::size_t shown = std::min(most_timeline_rows, timeline.tree.calls.size());
  for (std::size_t at = 0; at < shown; ++at) {
    const auto& [row, depth] = timeline.tree.calls[at];
    const std::uint64_t off = calls.off_cpu(row);
    table.add(
        {std::string(2 * std::size_t{depth}, ' ') + short_name(measurement, calls.function[row]),
         latency_text(measurement, calls, row), off == 0 ? "" : time_text(off),
         drawing.bar(calls.start[row], calls.start[row] + calls.wall(row), true),
         site_text(measurement, calls.site[row])});
  }
  std::string text = table.text(2);
  const std::uint64_t rest = timeline.tree.calls.size() - shown + timeline.tree.left_out;
  if (rest > 0) {
    text += fmt::format("  and {} more; --json shows {}\n", count(rest, "call"),
                        timeline.tree.left_out == 0
                            ? std::string("all")
                            : fmt::format("the first {}", count(timeline.tree.calls.size())));
  }
  return text;
}

std::string off_cpu_text(const Timeline& timeline, const Drawing& drawing) {
  if (timeline.waits.empty()) {
    return "";
  }
  Table table({"at", "for", text_column(""), text_column("")});
  const std::uint64_t origin = timeline.subset.calls().start[timeline.row];
  for (std::size_t at = 0; at < std::min(most_timeline_rows, timeline.waits.size()); ++at) {
    const measure::TimelineWait& wait = timeline.waits[at];
    const std::string place = place_text(wait.wait.place);
    std::string text = fmt::format("{}waiting for {}", wait.wait.likely ? "likely " : "",
                                   awaited_text(wait.wait.reason, wait.wait.lock));
    text += place.empty() ? "" : " in " + place;
    if (!wait.wait.wakers.empty()) {
      text += ", " + waker_text(wait.wait, wait.wait.wakers.front());
    }
    table.add({time_text(wait.begin - origin), time_text(wait.end - wait.begin),
               drawing.bar(wait.begin, wait.end, true), text});
  }
  std::string text = "\nOff the CPU\n" + table.text(2);
  if (timeline.waits.size() > most_timeline_rows) {
    text +=
        fmt::format("  and {} more\n", count(timeline.waits.size() - most_timeline_rows, "wait"));
  }
  return text;
}

std::string lost_text(const Timeline& timeline, const Drawing& drawing) {
  if (timeline.lost.empty()) {
    return "";
  }
  Table table({"at", "for", text_column("")});
  const std::uint64_t origin = timeline.subset.calls().start[timeline.row];
  for (std::size_t at = 0; at < std::min(most_timeline_rows, timeline.lost.size()); ++at) {
    const auto& [begin, end] = timeline.lost[at];
    table.add({time_text(begin - origin), time_text(end - begin), drawing.bar(begin, end, true)});
  }
  std::string text = "\nLost: calls in this time are not known\n" + table.text(2);
  if (timeline.lost.size() > most_timeline_rows) {
    text += fmt::format("  and {} more\n", count(timeline.lost.size() - most_timeline_rows, "gap"));
  }
  return text;
}

std::string meanwhile_text(const Timeline& timeline, const Drawing& drawing) {
  if (timeline.meanwhile.empty()) {
    return "";
  }
  Table table({text_column("thread"), text_column(""), "took", text_column("")});
  for (std::size_t at = 0; at < std::min(most_timeline_rows, timeline.meanwhile.size()); ++at) {
    const measure::MeanwhileCall& call = timeline.meanwhile[at];
    table.add({fmt::format("{} {}", printable(call.thread), call.tid),
               place_text(
                   {.function = call.function, .binary = "", .file = call.file, .line = call.line}),
               time_text(call.end - call.start), drawing.bar(call.start, call.end, false)});
  }
  return "\nMeanwhile, on the threads that ended waits\n" + table.text(2);
}

std::string parting_text(const Timeline& timeline) {
  if (!timeline.parting) {
    return "";
  }
  const measure::Parting& parting = *timeline.parting;
  const auto goes_on = [&](const measure::SourcePlace& place) {
    return place.line == 0 || place.file != parting.branch.file
               ? place_text(place)
               : fmt::format("line {}", place.line);
  };
  return fmt::format("  They part at a branch in {}: this call goes on at {}, the typical one at "
                     "{}.\n",
                     place_text(parting.branch), goes_on(parting.call), goes_on(parting.twin));
}

std::string twin_text(const Measurement& measurement, const Timeline& timeline) {
  if (!timeline.twin) {
    return "\nThere is no typical call to compare it with.\n";
  }
  const measure::Twin& twin = *timeline.twin;
  const stacks::CallTable& calls = timeline.subset.calls();
  std::string text =
      fmt::format("\nBeside a typical call ({}{}{}, --call {}:{})\n",
                  latency_text(measurement, calls, twin.row),
                  twin.same_caller ? ", same caller" : ", another caller",
                  twin.same_thread ? ", same thread" : "",
                  measurement.threads[calls.thread[twin.row]].tid, calls.start[twin.row]);
  const std::string parting = parting_text(timeline);
  if (twin.calls.empty()) {
    return text + "  Neither of them made a call.\n" + parting;
  }
  Table table({"this call", "typical", text_column(""), text_column("")});
  const auto cell = [&](std::uint32_t row) {
    return row == AlignedCall::none ? std::string("\u2013") : latency_text(measurement, calls, row);
  };
  const std::size_t shown = std::min(most_timeline_rows, twin.calls.size());
  for (std::size_t at = 0; at < shown; ++at) {
    const AlignedCall& each = twin.calls[at];
    const std::uint32_t row = each.row == AlignedCall::none ? each.twin_row : each.row;
    std::string mark = twin.first_divergence == at     ? "\u2190 here they part"
                       : twin.largest_difference == at ? "\u2190 the largest difference"
                                                       : "";
    const std::string site = site_text(measurement, calls.site[row]);
    table.add({cell(each.row), cell(each.twin_row),
               fmt::format("{}{}", short_name(measurement, calls.function[row]),
                           site.empty() ? "" : "  " + site),
               std::move(mark)});
  }
  text += table.text(2);
  return shown == twin.calls.size()
             ? text + parting
             : text + parting +
                   fmt::format("  and {} more\n", count(twin.calls.size() - shown, "call"));
}

} // namespace

std::string timeline_text(const Measurement& measurement, const Timeline& timeline) {
  const stacks::CallTable& calls = timeline.subset.calls();
  const stacks::ThreadInfo& thread = measurement.threads[calls.thread[timeline.row]];
  const Drawing drawing(timeline);
  std::string text = loss_text(measurement);
  text += fmt::format("{}\n  {} on thread {} {}, at {}\n\n",
                      printable(measurement.functions[calls.function[timeline.row]].name),
                      latency_text(measurement, calls, timeline.row), printable(thread.comm),
                      thread.tid, calls.start[timeline.row]);
  return text + nested_text(measurement, timeline, drawing) + off_cpu_text(timeline, drawing) +
         lost_text(timeline, drawing) + meanwhile_text(timeline, drawing) +
         twin_text(measurement, timeline);
}

} // namespace ptlens::exporting
