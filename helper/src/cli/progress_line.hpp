// How far a command is, on one line of the terminal that is gone when it is done. Nothing where
// standard error is no terminal.
#pragma once

#include "base/progress.hpp"
#include "export/progress_text.hpp"

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

  // To hand to the work; stands as long as this does.
  [[nodiscard]] const Progress& progress() const { return progress_; }
  // Says behind it what is known of a function so far. The line must outlive the listener.
  [[nodiscard]] std::function<void(const measure::PartialReport&)> partial_listener();

private:
  void show(const ProgressReport& report);

  Progress progress_;
  exporting::ProgressText text_;
  std::string so_far_;
  bool shown_ = false;
};

} // namespace ptlens::cli
