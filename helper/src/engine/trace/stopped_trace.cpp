// Replays truncations and switches of each processor up to a time.
#include "engine/trace/stopped_trace.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::engine {

StoppedTrace::StoppedTrace(const std::set<std::int32_t>& processors,
                           std::span<const perfdata::AuxWrite> writes,
                           std::span<const perfdata::Switch> switches) {
  for (const perfdata::AuxWrite& write : writes) {
    if (write.truncated && write.cpu >= 0 && processors.contains(write.cpu)) {
      processors_[write.cpu].stops.push_back(write.time_ns);
    }
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> came; // by cpu and tid
  for (const perfdata::Switch& record : switches) {
    const auto processor = processors_.find(record.cpu);
    if (record.tid <= 0 || processor == processors_.end()) {
      continue;
    }
    std::uint64_t& begin_ns = came[{record.cpu, record.tid}];
    if (!record.out) {
      begin_ns = record.time_ns;
      continue;
    }
    processor->second.stays.push_back(
        {.tid = record.tid, .begin_ns = std::exchange(begin_ns, 0), .end_ns = record.time_ns});
  }
  for (auto& [cpu, processor] : processors_) {
    std::ranges::sort(processor.stops);
    std::ranges::stable_sort(processor.stays, {}, &Stay::end_ns);
  }
}

void StoppedTrace::advance(Processor& processor, std::uint64_t time_ns) {
  std::vector<std::uint64_t>& stops = processor.stops;
  while (processor.next_stop < stops.size() && stops[processor.next_stop] <= time_ns) {
    const std::uint64_t stop_ns = stops[processor.next_stop++];
    processor.stopped_ns = processor.stopped_ns.value_or(stop_ns);
  }
  std::vector<Stay>& stays = processor.stays;
  while (processor.next_stay < stays.size() && stays[processor.next_stay].end_ns <= time_ns) {
    const Stay& stay = stays[processor.next_stay++];
    if (processor.stopped_ns && stay.end_ns > *processor.stopped_ns) {
      std::vector<Untraced>& times = untraced_[stay.tid];
      times.insert(
          std::ranges::upper_bound(times, stay.end_ns, {}, &Untraced::end_ns),
          {.begin_ns = std::max(stay.begin_ns, *processor.stopped_ns), .end_ns = stay.end_ns});
    }
  }
}

void StoppedTrace::go_on(std::int32_t cpu, std::uint64_t time_ns) {
  for (auto& [number, processor] : processors_) {
    advance(processor, time_ns);
  }
  if (const auto processor = processors_.find(cpu); processor != processors_.end()) {
    processor->second.stopped_ns.reset();
  }
}

std::optional<std::uint64_t> StoppedTrace::in(std::int32_t tid, std::uint64_t from,
                                              std::uint64_t to) const {
  const auto thread = untraced_.find(tid);
  if (thread == untraced_.end()) {
    return std::nullopt;
  }
  std::optional<std::uint64_t> first;
  const std::vector<Untraced>& times = thread->second;
  for (auto each = std::ranges::upper_bound(times, from, {}, &Untraced::end_ns);
       each != times.end() && each->end_ns <= to; ++each) {
    const std::uint64_t begin_ns = std::max(from, each->begin_ns);
    first = std::min(first.value_or(begin_ns), begin_ns);
  }
  return first;
}

} // namespace ptlens::engine
