// Moves the figures of a file to the lines of the present text.
#include "server/annotations/annotated_file.hpp"

#include "measure/change/difference.hpp"
#include "measure/change/recordings.hpp"
#include "source/staleness.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::server {
namespace {

using source::ShownSource;

// Compares the measured text of the file with the present one.
ShownSource compare(const OpenRecording& recording, const measure::FileLines& lines,
                    const std::string& path, const ShownText* shown) {
  std::vector<std::string> binaries;
  for (const measure::FileFunction& entry : lines.functions) {
    binaries.push_back(recording.measurement->functions[entry.function].binary);
  }
  return ShownSource(recording.sources, lines.file, binaries, path,
                     shown == nullptr ? nullptr : &shown->sums);
}

bool timed(const OpenRecording& one, const OpenRecording& other) {
  return one.measurement->recording.uncertainty_ns && other.measurement->recording.uncertainty_ns;
}

void compare_with_baseline(AnnotatedFile& file, const std::string& path) {
  const auto base_lines = file.baseline->lines(path);
  if (!base_lines) {
    return; // the baseline has no figures of the file
  }
  const measure::Measurement& base = *file.baseline->measurement;
  const bool has_timing = timed(*file.recording, *file.baseline);
  const auto base_runs = file.baseline->runs(**base_lines);
  const auto runs = file.recording->runs(*file.lines);
  for (AnnotatedFunction& function : file.functions) {
    const stacks::FunctionId same =
        measure::same_function(base, file.measurement(), function.entry->function);
    const auto before = base_runs->functions.find(same);
    const auto after = runs->functions.find(function.entry->function);
    if (before != base_runs->functions.end() && after != runs->functions.end()) {
      function.difference = measure::difference(before->second, after->second, has_timing);
    }
  }
  const ShownSource text = compare(*file.baseline, **base_lines, path, file.shown.get());
  std::map<std::uint32_t, const measure::RunOfCalls*> rows; // by present line
  for (const measure::LineRow& row : (*base_lines)->lines) {
    if (const auto now = text.now(row.line)) {
      rows.emplace(now->number, &base_runs->lines.at(row.line));
    }
  }
  for (AnnotatedLine& line : file.rows) {
    const auto before = rows.find(line.line);
    const auto after = runs->lines.find(line.row->line);
    if (before != rows.end() && after != runs->lines.end()) {
      line.difference = measure::difference(*before->second, after->second, has_timing);
    }
  }
}

// Returns the rows of all lines that have calls or a time.
std::vector<const measure::LineRow*> rows_of(AnnotatedFile& file) {
  std::vector<const measure::LineRow*> rows;
  std::set<std::uint32_t> known;
  for (const measure::LineRow& row : file.lines->lines) {
    rows.push_back(&row);
    known.insert(row.line);
  }
  if (file.times != nullptr) {
    file.without_calls = std::make_shared<std::deque<measure::LineRow>>();
    for (const line_time::LineTime& time : file.times->lines) {
      if (time.line != 0 && !known.contains(time.line)) {
        measure::LineRow& row = file.without_calls->emplace_back();
        row.line = time.line;
        rows.push_back(&row);
      }
    }
  }
  return rows;
}

// Returns the share of the row in the function, together with others on its line: the instances of
// a template.
std::optional<double> share_of(const AnnotatedFile& file, const measure::LineRow& row,
                               std::size_t function) {
  if (function >= file.functions.size() || row.latency.calls == 0) {
    return std::nullopt;
  }
  double total = 0;
  for (const AnnotatedFunction& each : file.functions) {
    if (each.line == file.functions[function].line) {
      total += static_cast<double>(each.entry->report.latency.total);
    }
  }
  constexpr double percent = 100;
  if (total <= 0) {
    return std::nullopt;
  }
  return std::min(percent, percent * static_cast<double>(row.latency.total) / total);
}

// Sets the line time of the last row.
void add_time(AnnotatedFile& file, const ShownSource& text) {
  AnnotatedLine& line = file.rows.back();
  line.time = file.times == nullptr ? nullptr : file.times->find(line.row->line);
  if (line.time == nullptr) {
    return;
  }
  for (const std::uint32_t other : line.time->shared_with) {
    if (const auto now = other == 0 ? std::nullopt : text.now(other)) {
      line.shared_with.push_back(now->number);
    }
  }
  std::ranges::sort(line.shared_with);
}

} // namespace

Result<AnnotatedFile> annotate(const std::shared_ptr<OpenRecording>& recording,
                               const std::shared_ptr<OpenRecording>& baseline,
                               const std::string& path, const Documents& documents) {
  if (recording == nullptr) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = "no recording is open",
                                 .remedy = "open a recording first"});
  }
  auto lines = recording->lines(path);
  if (!lines) {
    return std::unexpected(std::move(lines.error()));
  }
  AnnotatedFile file;
  file.recording = recording;
  file.baseline = baseline == recording ? nullptr : baseline;
  file.lines = *lines;
  file.times = recording->line_times(file.lines->file);
  file.shown = documents.shown(path);
  const ShownSource text = compare(*recording, *file.lines, path, file.shown.get());
  file.staleness = text.text();
  source::RebuiltBinaries binaries(recording->sources);
  const auto rebuilt = [&](stacks::FunctionId function) {
    const auto& functions = file.measurement().functions;
    return functions.has(function) && binaries.contains(functions[function].binary);
  };
  for (const measure::FileFunction& entry : file.lines->functions) {
    const stacks::FunctionInfo& info = file.measurement().functions[entry.function];
    if (const auto now = text.now(info.line)) {
      const bool function_edited = text.was_edited(info.line, info.end_line);
      file.functions.push_back({.entry = &entry,
                                .line = now->number,
                                .edited = function_edited,
                                .staleness = text.of(function_edited, rebuilt(entry.function)),
                                .difference = {}});
    }
  }
  std::ranges::stable_sort(file.functions, {}, &AnnotatedFunction::line);
  for (const measure::LineRow* row : rows_of(file)) {
    const auto now = text.now(row->line);
    if (!now) {
      continue;
    }
    std::size_t holder = file.functions.size();
    for (std::size_t index = 0; index < file.functions.size(); ++index) {
      const stacks::FunctionInfo& info =
          file.measurement().functions[file.functions[index].entry->function];
      if (info.line <= row->line && row->line <= info.end_line) {
        holder = index;
      }
    }
    // The function that makes the calls may have no figures of its own, for example with probes.
    const auto& functions = file.measurement().functions;
    const bool edited_around = std::ranges::any_of(row->holders, [&](stacks::FunctionId function) {
      const stacks::FunctionInfo& info = functions[function];
      return info.file == file.lines->file && info.line <= row->line &&
             row->line <= info.end_line && text.was_edited(info.line, info.end_line);
    });
    const bool has_function = holder < file.functions.size();
    const bool line_edited =
        !now->same || edited_around || (has_function && file.functions[holder].edited);
    const bool line_rebuilt =
        row->holders.empty()
            ? has_function && file.functions[holder].staleness == Staleness::rebuilt
            : std::ranges::any_of(row->holders, rebuilt);
    file.rows.push_back({.row = row,
                         .line = now->number,
                         .function = holder,
                         .staleness = text.of(line_edited, line_rebuilt),
                         .difference = {}});
    file.rows.back().share = share_of(file, *row, holder);
    add_time(file, text);
    file.hottest = std::max(file.hottest, row->latency.total);
  }
  std::ranges::stable_sort(file.rows, {}, &AnnotatedLine::line);
  if (file.baseline != nullptr) {
    compare_with_baseline(file, path);
  }
  return file;
}

std::optional<std::uint32_t> present_line(const OpenRecording& recording,
                                          const std::string& recorded, const std::string& path,
                                          std::uint32_t line, const Documents& documents) {
  const auto shown = documents.shown(path);
  return source::present_line(recording.sources, recorded,
                              shown == nullptr ? nullptr : &shown->sums, line);
}

} // namespace ptlens::server
