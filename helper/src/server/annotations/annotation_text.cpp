// The sentences and phrases that lenses, hovers and line texts share.
#include "server/annotations/annotation_text.hpp"

#include "export/difference.hpp"
#include "export/text/units.hpp"

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
using source::Staleness;

std::string p99_sentence(const measure::Difference& difference) {
  switch (difference.p99_verdict) {
  case Verdict::changed:
    return fmt::format(" p99 is {}.", signed_duration(difference.p99));
  case Verdict::unchanged:
    return " p99 has not changed by more than its uncertainty.";
  case Verdict::few_calls:
    return fmt::format(" A change of p99 needs {} calls in each recording.",
                       count(measure::fewest_for_p99));
  case Verdict::no_timing:
    break;
  }
  return {};
}

} // namespace

std::string code_text(const std::string& name) {
  std::string text = exporting::printable(name);
  std::ranges::replace(text, '`', '\'');
  return '`' + text + '`';
}

std::string name_of(const measure::Measurement& measurement, stacks::FunctionId function) {
  return measurement.functions.has(function) ? measurement.functions[function].name : "[unknown]";
}

std::string cpu_split(const measure::RecordingInfo& recording, const measure::LatencyStats& latency,
                      const measure::OffCpuStats& off) {
  if (!recording.off_cpu_known || latency.total == 0) {
    return {};
  }
  const double share = 100.0 * as_double(off.total) / as_double(latency.total);
  return fmt::format("on-CPU {}, off-CPU {}", exporting::percentage(100 - share),
                     exporting::percentage(share));
}

std::string excluded_calls(std::uint64_t incomplete, std::uint64_t unwound) {
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

std::string change_sentences(const std::optional<measure::Difference>& difference) {
  if (!difference) {
    return "The baseline has no calls of this function.";
  }
  switch (difference->mean_verdict) {
  case Verdict::few_calls:
    return fmt::format("Too few calls to detect a change: each recording needs {}.",
                       count(measure::fewest_for_mean));
  case Verdict::no_timing:
    return "One of the two recordings has no timing, so they cannot be compared.";
  case Verdict::changed:
    return fmt::format("Compared with the baseline, the mean is {} ({}).",
                       signed_duration(difference->mean),
                       signed_percentage(difference->mean_percent)) +
           p99_sentence(*difference);
  case Verdict::unchanged:
    break;
  }
  return fmt::format("The mean has not changed since the baseline: {} is within ± {}, the "
                     "uncertainty of the timing and the scatter of the calls.",
                     signed_duration(difference->mean), duration(difference->mean_within)) +
         p99_sentence(*difference);
}

std::string staleness_text(Staleness staleness) {
  switch (staleness) {
  case Staleness::edited_elsewhere:
    return "before your edit";
  case Staleness::newer_source:
    return "source newer than the program";
  case Staleness::edited:
    return "changed since it was measured";
  case Staleness::rebuilt:
    return "old binary";
  case Staleness::current:
  case Staleness::unknown:
    break;
  }
  return {};
}

std::string staleness_sentences(Staleness staleness) {
  switch (staleness) {
  case Staleness::edited_elsewhere:
    return "Measured before your edit of this file; these lines are as they were measured. Measure "
           "again for figures of the present code.";
  case Staleness::newer_source:
    return "This file was written after the measured program was built, so figures may be at the "
           "wrong lines. Measure again for figures of the present code.";
  case Staleness::edited:
    return "Measured before your edit: this source is not what the measured program was built "
           "from. Rebuild and measure again for figures of the present code.";
  case Staleness::rebuilt:
    return "Measured in an old binary: the program has been rebuilt since. Measure again for "
           "figures of the present code.";
  case Staleness::current:
  case Staleness::unknown:
    break;
  }
  return {};
}

} // namespace ptlens::server
