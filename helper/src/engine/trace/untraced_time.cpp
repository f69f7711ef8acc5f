// Finds the switch records of processors without a trace buffer.
#include "engine/trace/untraced_time.hpp"

#include <algorithm>

namespace ptlens::engine {

std::set<std::int32_t> traced_processors(const perfdata::Recording& recording) {
  std::set<std::int32_t> traced;
  for (const perfdata::AuxBuffer& buffer : recording.aux_buffers()) {
    traced.insert(buffer.cpu);
  }
  return traced;
}

UntracedTime::UntracedTime(const perfdata::Recording& recording) {
  const std::set<std::int32_t> traced = traced_processors(recording);
  if (traced.empty() || *traced.begin() < 0) { // buffers of threads follow them everywhere
    return;
  }
  for (const perfdata::Switch& record : recording.switches()) {
    if (record.tid > 0 && record.cpu >= 0 && !traced.contains(record.cpu)) {
      times_[record.tid].push_back(record.time_ns);
    }
  }
  some_processors_ = std::ranges::any_of(recording.command_line(), [](const std::string& word) {
    return word.starts_with("-C") || word.starts_with("--cpu=") || word == "--cpu";
  });
}

std::optional<std::uint64_t> UntracedTime::in(std::int32_t tid, std::uint64_t from,
                                              std::uint64_t to) const {
  const auto thread = times_.find(tid);
  if (thread == times_.end()) {
    return std::nullopt;
  }
  const auto first = std::ranges::lower_bound(thread->second, from);
  return first != thread->second.end() && *first < to ? std::optional(*first) : std::nullopt;
}

std::optional<Note> UntracedTime::note() const {
  if (!times_.empty()) {
    return make_note("untraced_processors",
                     "some threads ran on processors that were not traced: their calls there are "
                     "not visible, and calls that lasted over such a time are incomplete");
  }
  if (some_processors_) {
    return make_note("some_processors",
                     "only some processors were recorded: a thread that was switched out may have "
                     "run on another one; pin it to a recorded processor, or record its process");
  }
  return std::nullopt;
}

} // namespace ptlens::engine
