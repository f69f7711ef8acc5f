// The words that lenses, hovers and inlay hints share.
#pragma once

#include "base/words.hpp"
#include "measure/measurement.hpp"
#include "measure/report/difference.hpp"
#include "measure/report/report.hpp"
#include "server/annotations/annotated_file.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::server {

// As Markdown code: nothing in a name is taken for markup.
[[nodiscard]] std::string code_text(const std::string& name);

// "10,000 calls", "1 call"; the same of gaps and records.
[[nodiscard]] std::string say_calls(const Words& say, std::uint64_t number);
[[nodiscard]] std::string say_gaps(const Words& say, std::uint64_t number);
[[nodiscard]] std::string say_records(const Words& say, std::uint64_t number);

[[nodiscard]] std::string name_of(const measure::Measurement& measurement, std::uint32_t function);

// "on-CPU 88 %, off-CPU 12 %"; empty where off-CPU time is not known, or there is no time.
[[nodiscard]] std::string cpu_split(const Words& say, const measure::RecordingInfo& recording,
                                    const measure::LatencyStats& latency,
                                    const measure::OffCpuStats& off);

// " · 3 incomplete · 1 unwound", without those that are none.
[[nodiscard]] std::string left_out(const Words& say, std::uint64_t incomplete,
                                   std::uint64_t unwound);

// "−12 %, p99 +3.00 µs", "≈ baseline", "too few calls to compare"; "not in the baseline" for none.
[[nodiscard]] std::string change_text(const Words& say,
                                      const std::optional<measure::Difference>& difference);
// The same in a sentence, with why something is not called a change.
[[nodiscard]] std::string change_sentence(const Words& say,
                                          const std::optional<measure::Difference>& difference);

// What a figure is of that is not of the present text and binary: "before your edit", "changed
// since it was measured", "old binary", ...; empty where nothing is to be said.
[[nodiscard]] std::string stale_mark(const Words& say, SourceState text, bool changed,
                                     bool old_binary);
// The same in sentences.
[[nodiscard]] std::string stale_sentences(const Words& say, SourceState text, bool changed,
                                          bool old_binary);

// "1.23 µs × 1,000 · off-CPU 5.10 ms total" of a line with calls.
[[nodiscard]] std::string line_text(const Words& say, const measure::RecordingInfo& recording,
                                    const measure::LineRow& row);

// "line 12.3 ns × 1,000" of a line whose own time is known, "line × 1,000 · ≤ 40.1 µs shared with
// lines 10–13" where it is not known apart from others.
[[nodiscard]] std::string line_time_text(const Words& say, const AnnotatedFile& file,
                                         const AnnotatedLine& line);
// The same in a sentence.
[[nodiscard]] std::string line_time_sentence(const Words& say, const AnnotatedFile& file,
                                             const AnnotatedLine& line);

} // namespace ptlens::server
