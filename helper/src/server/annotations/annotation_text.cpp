// Figures in words.
#include "server/annotations/annotation_text.hpp"

#include "export/difference.hpp"
#include "export/line_times.hpp"
#include "export/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::server {
namespace {

using exporting::as_double;
using exporting::count;
using exporting::duration;
using exporting::signed_duration;
using exporting::signed_percentage;
using measure::Verdict;

} // namespace

std::string code_text(const std::string& name) {
  std::string text = exporting::printable(name);
  std::ranges::replace(text, '`', '\'');
  return '`' + text + '`';
}

std::string say_calls(const Words& say, std::uint64_t number) {
  return number == 1 ? say("1 call") : say("{0} calls", count(number));
}

std::string say_gaps(const Words& say, std::uint64_t number) {
  return number == 1 ? say("1 gap") : say("{0} gaps", count(number));
}

std::string say_records(const Words& say, std::uint64_t number) {
  return number == 1 ? say("1 record") : say("{0} records", count(number));
}

std::string name_of(const measure::Measurement& measurement, std::uint32_t function) {
  return function < measurement.functions.size() ? measurement.functions[function].name
                                                 : "[unknown]";
}

std::string cpu_split(const Words& say, const measure::RecordingInfo& recording,
                      const measure::LatencyStats& latency, const measure::OffCpuStats& off) {
  if (!recording.off_cpu_known || latency.total == 0) {
    return {};
  }
  const double share = 100.0 * as_double(off.total) / as_double(latency.total);
  return say("on-CPU {0}, off-CPU {1}", exporting::percentage(100 - share),
             exporting::percentage(share));
}

std::string left_out(const Words& say, std::uint64_t incomplete, std::uint64_t unwound) {
  std::string text;
  if (incomplete > 0) {
    text += " · " + say("{0} incomplete", count(incomplete));
  }
  if (unwound > 0) {
    text += " · " + say("{0} unwound", count(unwound));
  }
  return text;
}

std::string change_text(const Words& say, const std::optional<measure::Difference>& difference) {
  if (!difference) {
    return say("not in the baseline");
  }
  std::string text;
  if (difference->mean_verdict == Verdict::changed) {
    text = signed_percentage(difference->mean_percent);
  }
  if (difference->p99_verdict == Verdict::changed) {
    text += (text.empty() ? "" : ", ") + say("p99 {0}", signed_duration(difference->p99));
  }
  if (!text.empty()) {
    return text;
  }
  switch (difference->mean_verdict) {
  case Verdict::few_calls:
    return say("too few calls to compare");
  case Verdict::no_timing:
    return say("no timing to compare");
  case Verdict::changed:
  case Verdict::unchanged:
    break;
  }
  return say("≈ baseline");
}

std::string change_sentence(const Words& say,
                            const std::optional<measure::Difference>& difference) {
  if (!difference) {
    return say("The baseline has no calls of it.");
  }
  switch (difference->mean_verdict) {
  case Verdict::few_calls:
    return say("Too few calls to tell a change: it takes {0} in each recording.",
               count(measure::fewest_for_mean));
  case Verdict::no_timing:
    return say("One of the two recordings has no timing: nothing can be compared.");
  case Verdict::unchanged:
  case Verdict::changed:
    break;
  }
  std::string text =
      difference->mean_verdict == Verdict::changed
          ? say("Against the baseline the mean is {0} ({1}).", signed_duration(difference->mean),
                signed_percentage(difference->mean_percent))
          : say("The mean has not changed against the baseline: {0} is within ± {1}, what "
                "resolution and scatter of the calls leave open.",
                signed_duration(difference->mean), duration(difference->mean_within));
  switch (difference->p99_verdict) {
  case Verdict::changed:
    text += " " + say("p99 is {0}.", signed_duration(difference->p99));
    break;
  case Verdict::unchanged:
    text += " " + say("p99 has not changed beyond the resolution.");
    break;
  case Verdict::few_calls:
    text += " " + say("For p99 it takes {0} calls in each.", count(measure::fewest_for_p99));
    break;
  case Verdict::no_timing:
    break;
  }
  return text;
}

std::string stale_mark(const Words& say, SourceState text, bool changed, bool old_binary) {
  std::string mark;
  if (changed) {
    mark = say("changed since it was measured");
  } else if (text == SourceState::edited) {
    mark = say("before your edit");
  } else if (text == SourceState::newer) {
    mark = say("source newer than the program");
  }
  if (old_binary) {
    mark += (mark.empty() ? "" : ", ") + say("old binary");
  }
  return mark;
}

std::string stale_sentences(const Words& say, SourceState text, bool changed, bool old_binary) {
  std::string sentences;
  if (changed) {
    sentences = say("Measured before your edit: this source is not what the measured program was "
                    "built from.");
  } else if (text == SourceState::edited) {
    sentences =
        say("Measured before your edit of this file; these lines are as they were measured.");
  } else if (text == SourceState::newer) {
    sentences = say("This file was written after the measured program was built: figures may be "
                    "at the wrong lines.");
  }
  if (old_binary) {
    sentences += sentences.empty() ? "" : " ";
    sentences += say("Of the old binary: the program has been built anew since.");
  }
  if (!sentences.empty()) {
    sentences += " " + say("Measure again for figures of the present code.");
  }
  return sentences;
}

std::string line_text(const Words& say, const measure::RecordingInfo& recording,
                      const measure::LineRow& row) {
  std::string text;
  if (row.latency.calls > 0 && !recording.uncertainty_ns) {
    text = say_calls(say, row.latency.calls) + " · " + say("no timing");
  } else if (row.latency.calls > 0) {
    text = fmt::format("{} × {}", duration(row.latency.mean), count(row.latency.calls));
    if (recording.off_cpu_known && row.off_cpu.total > 0) {
      text += " · " + say("off-CPU {0} total", duration(as_double(row.off_cpu.total)));
    }
  }
  const std::string others = left_out(say, row.incomplete, row.unwound);
  constexpr std::size_t separator = std::string_view(" · ").size();
  return text.empty() && !others.empty() ? others.substr(separator) : text + others;
}

std::string line_time_text(const Words& say, const AnnotatedFile& file, const AnnotatedLine& line) {
  const line_time::LineTime& time = *line.time;
  const std::string executions = count(time.executions);
  if (!file.times->timed) {
    return say("line × {0}", executions) + " · " + say("no timing");
  }
  if (time.is_known()) {
    return say("line {0} × {1}",
               duration(time.time() / as_double(std::max<std::uint64_t>(time.executions, 1))),
               executions);
  }
  const std::string most = duration(as_double(time.at_most));
  const std::string lines = exporting::line_ranges(line.shared_with);
  std::string text = say("line × {0}", executions) + " · ";
  if (time.at_most == 0) {
    return text + say("too short to time");
  }
  return text + (lines.empty() ? say("≤ {0} shared with what it calls", most)
                               : say("≤ {0} shared with lines {1}", most, lines));
}

std::string line_time_sentence(const Words& say, const AnnotatedFile& file,
                               const AnnotatedLine& line) {
  const line_time::LineTime& time = *line.time;
  const std::string executions = count(time.executions);
  if (!file.times->timed || time.at_most == 0) {
    return say("Executions of the line: {0}. The trace tells no time of its own instructions.",
               executions);
  }
  if (time.is_known()) {
    return say("Executions of the line: {0}. Its own instructions took {1} ± {2} in all, without "
               "what they call and without off-CPU time.",
               executions, duration(time.time()), duration(time.uncertainty()));
  }
  const std::string least = duration(as_double(time.at_least));
  const std::string most = duration(as_double(time.at_most));
  const std::string lines = exporting::line_ranges(line.shared_with);
  return lines.empty() ? say("Executions of the line: {0}. Its own instructions took {1} to {2} in "
                             "all: the trace tells no time between them and what they call.",
                             executions, least, most)
                       : say("Executions of the line: {0}. Its own instructions took {1} to {2} in "
                             "all: the trace tells no time between them and those of lines {3}.",
                             executions, least, most, lines);
}

} // namespace ptlens::server
