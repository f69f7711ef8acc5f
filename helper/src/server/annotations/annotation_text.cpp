// The sentences and phrases that lenses, hovers and line texts share.
#include "server/annotations/annotation_text.hpp"

#include "base/words.hpp"
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
using measure::Reason;
using measure::Verdict;
using source::Staleness;

// What a lens says of figures that do not describe the present code, and what its hover adds.
struct StalenessWording {
  Staleness staleness;
  const char* phrase;
  const char* sentences;
};
constexpr StalenessWording staleness_wordings[] = {
    {Staleness::current, "", ""},
    {Staleness::unknown, "", ""},
    {Staleness::edited_elsewhere, "before your edit",
     "Measured before your edit of this file; these lines are as they were measured. Measure again "
     "for figures of the present code."},
    {Staleness::newer_source, "source newer than the program",
     "This file was written after the measured program was built, so figures may be at the wrong "
     "lines. Measure again for figures of the present code."},
    {Staleness::edited, "changed since it was measured",
     "Measured before your edit: this source is not what the measured program was built from. "
     "Rebuild and measure again for figures of the present code."},
    {Staleness::rebuilt, "old binary",
     "Measured in an old binary: the program has been rebuilt since. Measure again for figures of "
     "the present code."}};

const StalenessWording& wording_of(Staleness staleness) {
  return *std::ranges::find(staleness_wordings, staleness, &StalenessWording::staleness);
}

constexpr Word<Reason> reason_phrases[] = {{Reason::few_calls, "too few calls to compare"},
                                           {Reason::no_timing, "no timing to compare"}};

// Returns " p99 is slower: +12 % (+9.1 % to +15 %)."
std::string p99_sentence(const measure::Change& p99) {
  switch (p99.reason) {
  case Reason::few_calls:
    return fmt::format(" A verdict on p99 needs {} calls in each recording.",
                       count(measure::fewest_for_p99));
  case Reason::no_timing:
    return {};
  case Reason::none:
    break;
  }
  return fmt::format(" p99: {}, {} ({}).", exporting::words(p99.verdict),
                     signed_percentage(p99.percent()), exporting::interval_text(p99));
}

bool is_change(const measure::Change& change) {
  return change.verdict == Verdict::faster || change.verdict == Verdict::slower;
}

// Returns "faster −12 %", "no change" or "cannot tell a change".
std::string verdict_text(const measure::Change& change) {
  const std::string words = exporting::words(change.verdict);
  if (is_change(change)) {
    return words + ' ' + signed_percentage(change.percent());
  }
  return change.verdict == Verdict::no_change ? words : words + " a change";
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

std::string off_cpu_share(const measure::RecordingInfo& recording,
                          const measure::LatencyStats& latency, const measure::OffCpuStats& off) {
  if (!recording.off_cpu_known || latency.total == 0 || off.total == 0) {
    return {};
  }
  const double share = 100.0 * as_double(off.total) / as_double(latency.total);
  return share < 1 ? "< 1 %" : fmt::format("{:.0f} %", share);
}

bool has_tail(const measure::RecordingInfo& recording, const measure::LatencyStats& latency) {
  constexpr std::uint64_t times_typical = 2;
  constexpr std::uint64_t times_uncertainty = 3;
  return recording.uncertainty_ns && latency.calls >= fewest_for_typical &&
         latency.p99 >= times_typical * latency.p50 &&
         latency.p99 - latency.p50 > times_uncertainty * latency.uncertainty;
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
  const measure::Change& mean = difference->mean;
  if (mean.reason != Reason::none) {
    return word_of(reason_phrases, mean.reason);
  }
  if (is_change(difference->p99) && difference->p99.verdict != mean.verdict) {
    return verdict_text(mean) + ", p99 " + verdict_text(difference->p99);
  }
  return verdict_text(mean);
}

std::string change_sign(const std::optional<measure::Difference>& difference) {
  if (!difference) {
    return "new";
  }
  const measure::Change& mean = difference->mean;
  const std::string sign = exporting::sign(mean.verdict);
  return is_change(mean) ? sign + ' ' + signed_percentage(mean.percent()) : sign;
}

std::string change_sentences(const std::optional<measure::Difference>& difference) {
  if (!difference) {
    return "The baseline has no calls of this function.";
  }
  const measure::Change& mean = difference->mean;
  switch (mean.reason) {
  case Reason::few_calls:
    return fmt::format("Too few calls to detect a change: each recording needs {}.",
                       count(measure::fewest_for_mean));
  case Reason::no_timing:
    return "One of the two recordings has no timing, so they cannot be compared.";
  case Reason::none:
    break;
  }
  return fmt::format("Mean compared with the baseline: {}, {}, {} (95 % confidence: {}).{} {}",
                     exporting::words(mean.verdict), signed_duration(mean.difference()),
                     signed_percentage(mean.percent()), exporting::interval_text(mean),
                     p99_sentence(difference->p99), exporting::one_run_sentence());
}

std::string staleness_text(Staleness staleness) {
  return wording_of(staleness).phrase;
}

std::string staleness_sentences(Staleness staleness) {
  return wording_of(staleness).sentences;
}

} // namespace ptlens::server
