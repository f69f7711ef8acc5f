#include "record/probes/cost/run_time.hpp"

#include "record/probes/events/process_records.hpp"
#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::record {

std::optional<ThreadTime> parse_schedstat(std::string_view text) {
  const auto ran = to_number<std::uint64_t>(next_field(text));
  const auto waited = to_number<std::uint64_t>(next_field(text));
  const auto turns = to_number<std::uint64_t>(next_field(text));
  if (!ran || !waited || !turns) {
    return std::nullopt;
  }
  return ThreadTime{.ran_ns = static_cast<double>(*ran),
                    .waited_ns = static_cast<double>(*waited),
                    .turns = static_cast<double>(*turns)};
}

ThreadTimes run_times_of(std::int32_t pid) {
  ThreadTimes times;
  for (const std::int32_t tid : pid > 0 ? threads_of(pid) : std::vector<std::int32_t>()) {
    const auto text = read_text(fmt::format("/proc/{}/task/{}/schedstat", pid, tid));
    if (const auto time = parse_schedstat(text.value_or(""))) {
      times.emplace(tid, *time);
    }
  }
  return times;
}

void RunTime::add(double ns, const ThreadTimes& before, const ThreadTimes& after) {
  whole_ns_ += std::max(0.0, ns);
  for (const auto& [tid, now] : after) {
    const auto found = before.find(tid);
    const ThreadTime then = found == before.end() ? ThreadTime{} : found->second;
    ThreadTime& sum = threads_[tid];
    sum.ran_ns += std::max(0.0, now.ran_ns - then.ran_ns);
    sum.waited_ns += std::max(0.0, now.waited_ns - then.waited_ns);
    sum.turns += std::max(0.0, now.turns - then.turns);
  }
}

double RunTime::of_thread(std::int32_t tid) const {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) {
    return whole_ns_;
  }
  const ThreadTime& time = found->second;
  return std::clamp(whole_ns_ - time.waited_ns, std::min(time.ran_ns, whole_ns_), whole_ns_);
}

double RunTime::of_program() const {
  double ran = 0;
  double waited = 0;
  for (const auto& [tid, time] : threads_) {
    ran += time.ran_ns;
    waited += time.waited_ns;
  }
  return std::max(ran, whole_ns_ - waited);
}

double RunTime::turns() const {
  double turns = 0;
  for (const auto& [tid, time] : threads_) {
    turns += time.turns;
  }
  return turns;
}

} // namespace ptlens::record
