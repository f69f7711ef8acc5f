// ECMA-48: carriage return, then erase to the end of the line.
#include "cli/progress_line.hpp"

#include <chrono>
#include <iostream>
#include <unistd.h>

namespace ptlens::cli {
namespace {

constexpr const char* line_begin = "\r\x1b[K";

} // namespace

ProgressLine::ProgressLine()
    : progress_(::isatty(STDERR_FILENO) != 0
                    ? Progress::Listener([this](const ProgressReport& report) { show(report); })
                    : Progress::Listener()) {}

ProgressLine::~ProgressLine() {
  if (shown_) {
    std::cerr << line_begin << std::flush;
  }
}

std::function<void(const measure::PartialReport&)> ProgressLine::partial_listener() {
  return
      [this](const measure::PartialReport& report) { so_far_ = " · " + exporting::so_far(report); };
}

void ProgressLine::show(const ProgressReport& report) {
  if (report.stage != "decoding") {
    so_far_.clear(); // the full report follows
  }
  if (const auto line = text_.next(report, std::chrono::steady_clock::now())) {
    std::cerr << line_begin << *line << so_far_ << std::flush;
    shown_ = true;
  }
}

} // namespace ptlens::cli
