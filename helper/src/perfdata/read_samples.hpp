// Reads the samples of a recording with reports of progress.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "perfdata/recording.hpp"

#include <cstddef>

namespace ptlens::perfdata {

// Gives every sample to `take`, in order of time. `stage`: what the user sees of it. Errors:
// cancelled.
template <class Take>
[[nodiscard]] Result<void> read_samples(const Recording& recording, const char* stage,
                                        const Progress& progress, const Take& take) {
  constexpr std::size_t samples_a_check = 4096;
  const std::size_t count = recording.samples().size();
  std::size_t read = 0;
  recording.each_sample([&](const Sample& sample) {
    if (read++ % samples_a_check == 0) {
      if (progress.cancelled()) {
        return false;
      }
      progress.report({stage, read, count, "samples"});
    }
    take(sample);
    return true;
  });
  if (progress.cancelled()) {
    return std::unexpected(
        Error{.kind = Error::Kind::cancelled, .message = "reading was cancelled"});
  }
  return {};
}

} // namespace ptlens::perfdata
