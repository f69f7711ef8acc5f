// Figures in words.
#include "server/annotation_words.hpp"

#include "export/difference.hpp"
#include "export/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::server {
namespace {

using exporting::count;
using exporting::duration;
using exporting::signed_duration;
using exporting::signed_percentage;
using measure::Verdict;

double real(std::uint64_t number) {
  return static_cast<double>(number);
}

} // namespace

std::string code_text(const std::string& name) {
  std::string text = exporting::printable(name);
  std::ranges::replace(text, '`', '\'');
  return '`' + text + '`';
}

std::string name_of(const measure::Measurement& measurement, std::uint32_t function) {
  return function < measurement.functions.size() ? measurement.functions[function].name
                                                 : "[unknown]";
}

std::string cpu_split(const measure::RecordingInfo& recording, const measure::LatencyStats& latency,
                      const measure::OffCpuStats& off) {
  if (!recording.off_cpu_known || latency.total == 0) {
    return {};
  }
  const double share = 100.0 * real(off.total) / real(latency.total);
  return fmt::format("on-CPU {}, off-CPU {}", exporting::percentage(100 - share),
                     exporting::percentage(share));
}

std::string left_out(std::uint64_t incomplete, std::uint64_t unwound) {
  std::string text;
  if (incomplete > 0) {
    text += fmt::format(" · {} incomplete", count(incomplete));
  }
  if (unwound > 0) {
    text += fmt::format(" · {} unwound", count(unwound));
  }
  return text;
}

std::string change_text(const std::optional<measure::Difference>& difference) {
  if (!difference) {
    return "not in the baseline";
  }
  std::string text;
  if (difference->mean_verdict == Verdict::changed) {
    text = signed_percentage(difference->mean_percent);
  }
  if (difference->p99_verdict == Verdict::changed) {
    text += fmt::format("{}p99 {}", text.empty() ? "" : ", ", signed_duration(difference->p99));
  }
  if (!text.empty()) {
    return text;
  }
  switch (difference->mean_verdict) {
  case Verdict::few_calls:
    return "too few calls to compare";
  case Verdict::no_timing:
    return "no timing to compare";
  case Verdict::changed:
  case Verdict::unchanged:
    break;
  }
  return "≈ baseline";
}

std::string change_sentence(const std::optional<measure::Difference>& difference) {
  if (!difference) {
    return "The baseline has no calls of it.";
  }
  switch (difference->mean_verdict) {
  case Verdict::few_calls:
    return fmt::format("Too few calls to tell a change: it takes {} in each recording.",
                       measure::fewest_for_mean);
  case Verdict::no_timing:
    return "One of the two recordings has no timing: nothing can be compared.";
  case Verdict::unchanged:
  case Verdict::changed:
    break;
  }
  std::string text =
      difference->mean_verdict == Verdict::changed
          ? fmt::format("Against the baseline the mean is {} ({}).",
                        signed_duration(difference->mean),
                        signed_percentage(difference->mean_percent))
          : fmt::format("The mean has not changed against the baseline: {} is within ± {}, what "
                        "resolution and scatter of the calls leave open.",
                        signed_duration(difference->mean), duration(difference->mean_within));
  switch (difference->p99_verdict) {
  case Verdict::changed:
    text += fmt::format(" p99 is {}.", signed_duration(difference->p99));
    break;
  case Verdict::unchanged:
    text += " p99 has not changed beyond the resolution.";
    break;
  case Verdict::few_calls:
    text += fmt::format(" For p99 it takes {} calls in each.", measure::fewest_for_p99);
    break;
  case Verdict::no_timing:
    break;
  }
  return text;
}

std::string stale_mark(TextState text, bool changed, bool old_binary) {
  std::string mark;
  if (changed) {
    mark = "changed since it was measured";
  } else if (text == TextState::edited) {
    mark = "before your edit";
  } else if (text == TextState::newer) {
    mark = "source newer than the program";
  }
  if (old_binary) {
    mark += mark.empty() ? "old binary" : ", old binary";
  }
  return mark;
}

std::string stale_sentences(TextState text, bool changed, bool old_binary) {
  std::string sentences;
  if (changed) {
    sentences = "Measured before your edit: this source is not what the measured program was built "
                "from.";
  } else if (text == TextState::edited) {
    sentences = "Measured before your edit of this file; these lines are as they were measured.";
  } else if (text == TextState::newer) {
    sentences = "This file was written after the measured program was built: figures may be at the "
                "wrong lines.";
  }
  if (old_binary) {
    sentences += sentences.empty() ? "" : " ";
    sentences += "Of the old binary: the program has been built anew since.";
  }
  if (!sentences.empty()) {
    sentences += " Measure again for figures of the present code.";
  }
  return sentences;
}

std::string line_text(const measure::RecordingInfo& recording, const measure::LineRow& row) {
  std::string text;
  if (row.latency.calls > 0 && !recording.resolution_ns) {
    text = count(row.latency.calls, "call") + " · no timing";
  } else if (row.latency.calls > 0) {
    text = fmt::format("{} × {}", duration(row.latency.mean), count(row.latency.calls));
    if (recording.off_cpu_known && row.off_cpu.total > 0) {
      text += fmt::format(" · off-CPU {} total", duration(real(row.off_cpu.total)));
    }
  }
  const std::string others = left_out(row.incomplete, row.unwound);
  constexpr std::size_t separator = std::string_view(" · ").size();
  return text.empty() && !others.empty() ? others.substr(separator) : text + others;
}

} // namespace ptlens::server
