// When threads ran on processors of which there is no trace, by their switch records: perf's -C,
// and buffers that hold nothing. What they called there is not known, nor which of their calls
// ended.
#pragma once

#include "perfdata/recording.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::engine {

class UntracedTime {
public:
  explicit UntracedTime(const perfdata::Recording& recording);

  // A time in [from, to), ns, at which the thread was on such a processor.
  [[nodiscard]] std::optional<std::uint64_t> in(std::int32_t tid, std::uint64_t from,
                                                std::uint64_t to) const;
  // What the recording cannot say, as a sentence; empty where it lacks nothing.
  [[nodiscard]] std::string note() const;

private:
  std::map<std::int32_t, std::vector<std::uint64_t>> times_; // by tid, in order
  bool some_processors_ = false;                             // perf was told which to record
};

} // namespace ptlens::engine
