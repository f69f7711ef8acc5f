// Converts a worker's progress reports to LSP's: a percentage that never falls, and a line with the
// stage, the rate and the estimated time left.
#pragma once

#include "base/progress.hpp"
#include "export/text/progress_text.hpp"
#include "protocol/types.hpp"

#include <optional>

namespace ptlens::server {

class ProgressValue {
public:
  using Time = exporting::ProgressText::Time;

  // `records_first`: the stage "recording" takes the first part of the percentage, and the later
  // stages take the rest.
  explicit ProgressValue(bool records_first) : records_first_(records_first) {}

  // Returns the `value` of $/progress, or nothing while the last one is too recent.
  [[nodiscard]] std::optional<protocol::Json> next(const ProgressReport& report, Time now);

private:
  bool records_first_;
  exporting::ProgressText text_;
  int percentage_ = 0;
};

} // namespace ptlens::server
