// The progress of a command on one line of the terminal, which disappears at the end. Prints
// nothing when standard error is not a terminal.
#pragma once

#include "base/progress.hpp"
#include "export/text/progress_text.hpp"

#include <functional>
#include <string>

namespace ptlens::cli {

class ProgressLine {
public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine();

  // Returns the progress to pass to the work. It lives as long as this object.
  [[nodiscard]] const Progress& progress() const { return progress_; }
  // Returns a listener that adds the partial report on a function to the line. The line must
  // outlive the listener.
  [[nodiscard]] std::function<void(const measure::PartialReport&)> partial_listener();

private:
  void show(const ProgressReport& report);

  Progress progress_;
  exporting::ProgressText text_;
  std::string so_far_;
  bool shown_ = false;
};

} // namespace ptlens::cli
