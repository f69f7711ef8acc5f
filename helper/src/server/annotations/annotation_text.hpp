// The sentences and phrases that lenses, hovers and line texts share.
#pragma once

#include "measure/change/change.hpp"
#include "measure/measurement.hpp"
#include "measure/report/report.hpp"
#include "source/staleness.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::server {

// The number of calls below which nothing is typical: the maximum is then shown in place of p99.
inline constexpr std::uint64_t fewest_for_typical = 100;

// Returns the name as Markdown code, so that no character in it is read as markup.
[[nodiscard]] std::string code_text(const std::string& name);

[[nodiscard]] std::string name_of(const measure::Measurement& measurement,
                                  stacks::FunctionId function);

// Returns the share of off-CPU time without decimals: "54 %", "< 1 %"; empty where it is 0 or not
// known.
[[nodiscard]] std::string off_cpu_share(const measure::RecordingInfo& recording,
                                        const measure::LatencyStats& latency,
                                        const measure::OffCpuStats& off);

// Returns whether the slowest of a hundred calls take so much longer than typical ones that the
// question why makes sense.
[[nodiscard]] bool has_tail(const measure::RecordingInfo& recording,
                            const measure::LatencyStats& latency);

// Returns " · 3 incomplete · 1 unwound", without counts of zero.
[[nodiscard]] std::string excluded_calls(std::uint64_t incomplete, std::uint64_t unwound);

// Returns the change against the baseline: "faster −12 %", "no change, p99 slower +30 %",
// "cannot tell a change", "too few calls to compare"; "not in the baseline" without a difference.
[[nodiscard]] std::string change_text(const std::optional<measure::Difference>& difference);
// Returns the same as a sign and a percentage: "↓ −12 %", "↑ +12 %", "=" or "?"; "new" without a
// difference.
[[nodiscard]] std::string change_sign(const std::optional<measure::Difference>& difference);
// Returns the change in sentences, with the reason where no change is reported.
[[nodiscard]] std::string change_sentences(const std::optional<measure::Difference>& difference);

// Returns why a figure is stale: "before your edit", "old binary", …; nothing where it is not.
[[nodiscard]] std::string staleness_text(source::Staleness staleness);
// Returns the reason in sentences, with what to do.
[[nodiscard]] std::string staleness_sentences(source::Staleness staleness);

} // namespace ptlens::server
