// The times at which threads ran on processors without a trace, from switch records: with perf's
// -C, or with empty buffers. The calls of those times are unknown, and so are the ends of calls.
#pragma once

#include "base/note.hpp"
#include "perfdata/recording.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptlens::engine {

// Returns the processors with a trace buffer of their own; -1 where buffers belong to threads.
[[nodiscard]] std::set<std::int32_t> traced_processors(const perfdata::Recording& recording);

class UntracedTime {
public:
  explicit UntracedTime(const perfdata::Recording& recording);

  // Returns a time in [from, to), ns, at which the thread was on such a processor.
  [[nodiscard]] std::optional<std::uint64_t> in(std::int32_t tid, std::uint64_t from,
                                                std::uint64_t to) const;
  // Returns a note on what the recording cannot show; nothing where it is complete.
  [[nodiscard]] std::optional<Note> note() const;

private:
  std::map<std::int32_t, std::vector<std::uint64_t>> times_; // by tid, in order
  bool some_processors_ = false; // perf recorded selected processors only
};

} // namespace ptlens::engine
