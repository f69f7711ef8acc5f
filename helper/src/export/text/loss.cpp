// The losses and the notes of a recording.
#include "export/text/loss.hpp"

#include "export/text/table.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace ptlens::exporting {

namespace {

constexpr std::size_t missing_shown = 8;
constexpr std::size_t page_width = 100;

// Returns the text as an item of a list, with line breaks at the width of the page.
std::string list_item(const std::string& item) {
  std::string text = "  -";
  std::size_t column = text.size();
  for (std::size_t at = item.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = item.find(' ', at);
    const std::string word = item.substr(at, end - at);
    if (column + 1 + width(word) > page_width && column > 3) {
      text += "\n   ";
      column = 3;
    }
    text += ' ' + word;
    column += 1 + width(word);
    at = item.find_first_not_of(' ', end);
  }
  return text + '\n';
}

} // namespace

std::string loss_text(const measure::Measurement& measurement) {
  const measure::RecordingInfo& info = measurement.recording;
  std::string text;
  if (!info.uncertainty_ns) {
    text += "! no timing in this recording: calls are counted, but every latency is unknown\n";
  }
  if (measure::is_estimate(info)) {
    text += fmt::format(
        "! measured in {}, {} of {}. Counts and totals are those of the bursts: "
        "multiply them by {:.1f} to estimate the whole recording\n",
        count(info.bursts, "burst"), duration(static_cast<double>(info.trace_ns - info.lost_ns)),
        duration(static_cast<double>(info.trace_ns)), measure::estimate_factor(info));
  } else if (info.bursts == 0 && (info.gaps > 0 || info.lost_ns > 0)) {
    const std::string share =
        info.lost_ns == 0 ? std::string()
                          : fmt::format("{} of {} of ", duration(static_cast<double>(info.lost_ns)),
                                        duration(static_cast<double>(info.trace_ns)));
    text += fmt::format("! {}trace lost in {}; calls across them are incomplete\n", share,
                        count(info.gaps, "gap"));
  }
  if (info.decode_errors > 0) {
    text += fmt::format("! {}: the trace contradicts the code\n",
                        count(info.decode_errors, "decode error"));
  }
  if (info.lost_records > 0) {
    text += fmt::format("! perf dropped {}\n", count(info.lost_records, "record"));
  }
  for (std::size_t index = 0; index < std::min(info.missing.size(), missing_shown); ++index) {
    const measure::MissingCode& code = info.missing[index];
    const std::string build_id =
        code.build_id.empty() ? "" : fmt::format(" (build-id {})", printable(code.build_id));
    text += fmt::format("! cannot read the code of {}{}: {}\n", printable(code.path), build_id,
                        printable(code.reason));
  }
  if (info.missing.size() > missing_shown) {
    text +=
        fmt::format("! and {} more binaries without code\n", info.missing.size() - missing_shown);
  }
  const auto is_kernel = [](const measure::MissingCode& code) {
    return code.path.starts_with("[kernel") || code.path.ends_with(".ko");
  };
  if (std::ranges::any_of(info.missing, std::not_fn(is_kernel))) {
    text += "  --symfs FOLDER names the folder that has the recorded binaries\n";
  }
  if (std::ranges::any_of(info.missing, is_kernel)) {
    text += "  record with --kcore, or give the kernel's symbols with --kallsyms\n";
  }
  return text.empty() ? text : text + '\n';
}

std::string notes_text(const measure::Measurement& measurement) {
  if (measurement.recording.notes.empty()) {
    return {};
  }
  std::string text = "\nNotes\n";
  for (const Note& note : measurement.recording.notes) {
    text += list_item(printable(note.text));
  }
  return text;
}

} // namespace ptlens::exporting
