// The kernel counts the hits of every probe (uprobe_profile, Documentation/trace/uprobetracer.rst),
// whether or not an event samples them. An event that is opened on one thread sets the breakpoints
// in its whole process.
#include "record/probes/cost/call_counts.hpp"

#include "record/probes/cost/run_time.hpp"
#include "record/probes/events/hit_events.hpp"
#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <linux/perf_event.h>
#include <numeric>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace ptlens::record {
namespace {

using Clock = std::chrono::steady_clock;

Result<Descriptor> open_counter(std::uint64_t event_id, std::int32_t pid) {
  perf_event_attr attribute{};
  attribute.type = PERF_TYPE_TRACEPOINT;
  attribute.size = sizeof attribute;
  attribute.config = event_id;
  Descriptor opened(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attribute, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!opened.valid()) {
    return std::unexpected(
        Error{.message = fmt::format("calls cannot be counted: {}", std::strerror(errno))});
  }
  return opened;
}

} // namespace

std::vector<std::uint64_t> parse_profile(std::string_view text, std::string_view event) {
  std::vector<std::uint64_t> hits;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    next_field(line); // file
    if (next_field(line) == event) {
      hits.push_back(to_number<std::uint64_t>(next_field(line)).value_or(0));
    }
  }
  return hits;
}

Result<CallCounts> count_calls(const ProbePlan& plan, const TargetFiles& files,
                               const std::string& tracefs, std::int32_t pid) {
  constexpr std::chrono::milliseconds longest(300);
  constexpr std::chrono::milliseconds pause(20);
  constexpr std::uint64_t enough = 3000; // hits
  auto group = ProbeGroup::make(tracefs);
  if (!group) {
    return std::unexpected(group.error());
  }
  const std::string event = group->name(); // the profile contains no names of groups
  std::vector<bool> counted;
  for (const PlannedProbe& probe : plan.probes) {
    if (probe.kind == Probe::Kind::entry) {
      const TargetFile* const file = files.file_of(probe.place.binary.get());
      counted.push_back(file != nullptr &&
                        group->add(event, file->open_path, probe.file_offset, "sp=%sp:u64"));
    }
  }
  const auto id = group->event_id(event, {"sp"});
  if (!id) {
    return std::unexpected(id.error());
  }
  const auto hits = [&tracefs, &event] {
    return parse_profile(read_text(tracefs + "/uprobe_profile", std::size_t{16} << 20).value_or(""),
                         event);
  };
  auto held = hold({.name = event, .filter = {}, .id = *id});
  if (!held) {
    return std::unexpected(held.error());
  }
  auto counter = open_counter(*id, pid);
  if (!counter) {
    return std::unexpected(counter.error());
  }
  const auto before = hits();
  const ThreadTimes times_before = run_times_of(pid);
  const Clock::time_point begin = Clock::now();
  std::vector<std::uint64_t> after = before;
  Clock::time_point now = begin;
  while (now - begin < longest &&
         std::accumulate(after.begin(), after.end(), std::uint64_t{0}) -
                 std::accumulate(before.begin(), before.end(), std::uint64_t{0}) <
             enough) {
    std::this_thread::sleep_for(pause);
    now = Clock::now();
    after = hits();
    if (after.size() != before.size()) {
      return std::unexpected(Error{.message = "the kernel does not count the hits of probes"});
    }
  }
  *counter = Descriptor(); // removes the breakpoints from the program
  const double seconds = std::chrono::duration<double>(now - begin).count();
  constexpr double ns_per_s = 1e9;
  RunTime could_run;
  could_run.add(seconds * ns_per_s, times_before, run_times_of(pid));
  CallCounts counts{.calls_a_s = {},
                    .cpus = could_run.of_program() / could_run.whole_ns(),
                    .group = std::move(*group),
                    .held = std::move(*held)};
  std::size_t line = 0;
  for (const bool is_counted : counted) {
    const bool known = is_counted && line < after.size();
    counts.calls_a_s.push_back(known ? static_cast<double>(after[line] - before[line]) / seconds
                                     : 0);
    line += is_counted ? 1 : 0;
  }
  return counts;
}

} // namespace ptlens::record
