// Turns what a worker reports into what LSP shows: a percentage that never falls, and a line with
// the stage, the rate and an estimate of what is left.
#pragma once

#include "base/progress.hpp"
#include "export/json.hpp"
#include "export/progress_text.hpp"

#include <optional>
#include <utility>

namespace ptlens::server {

class ProgressWords {
public:
  using Time = exporting::ProgressText::Time;

  // `records_first`: a stage named "recording" fills the first part of the percentage, what follows
  // the rest.
  explicit ProgressWords(bool records_first, Words say = {})
      : records_first_(records_first), text_(std::move(say)) {}

  // The `value` of $/progress, or nothing when it is too early for another one.
  [[nodiscard]] std::optional<exporting::Json> next(const ProgressReport& report, Time now);

private:
  bool records_first_;
  exporting::ProgressText text_;
  int percentage_ = 0;
};

} // namespace ptlens::server
