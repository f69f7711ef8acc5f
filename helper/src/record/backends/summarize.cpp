#include "record/backends/summarize.hpp"

#include <algorithm>
#include <set>

namespace ptlens::record {
namespace {

void advise_on_trace(const Request& request, const Machine& machine, Summary& summary) {
  if (summary.traced_bytes == 0) {
    summary.advice.emplace_back(
        "the traced code did not run: record while the program works, for a "
        "longer time, or without --filter");
  }
  if (summary.truncated == 0) {
    return;
  }
  const bool may_filter = machine.intel_pt && machine.intel_pt->ip_filtering && !request.filter &&
                          !request.function.empty();
  if (may_filter) {
    summary.advice.emplace_back(
        "add --filter to trace only this function: it reduces the data to a fifth or less");
  }
  if (request.pid || request.all_cpus) {
    summary.advice.emplace_back("use --tid to trace only one thread");
  }
  summary.advice.emplace_back(
      "add --snapshot to keep only the last part of the trace, without a gap");
  if (!machine.rights.root && !machine.rights.ipc_lock) {
    summary.advice.emplace_back(
        "enlarge the trace buffers: sudo sysctl kernel.perf_event_mlock_kb=8192");
  }
}

} // namespace

Summary summarize(const Request& request, const Machine& machine, const SessionEnd& end,
                  const perfdata::Recording& recording, const std::string& backend) {
  Summary summary;
  summary.target = target_text(request);
  summary.asked_s = request.duration_s;
  summary.traced_s = end.measured_s;
  summary.traced_bytes = recording.trace_bytes();
  std::set<std::int32_t> threads;
  for (const perfdata::Switch& change : recording.switches()) {
    if (change.tid > 0) {
      threads.insert(change.tid);
    }
  }
  for (const perfdata::TraceStart& start : recording.trace_starts()) {
    threads.insert(start.tid);
  }
  recording.each_sample([&](const perfdata::Sample& sample) {
    if (!perfdata::is_wait_event(recording.attributes()[sample.attribute])) {
      ++summary.hits;
      threads.insert(sample.tid);
    }
    return true;
  });
  summary.threads = threads.size();
  summary.truncated = static_cast<std::uint64_t>(
      std::ranges::count_if(recording.aux_writes(), &perfdata::AuxWrite::truncated));
  for (const perfdata::Lost& lost : recording.lost()) {
    summary.lost_records += lost.count;
  }
  if (backend == "intel_pt") {
    advise_on_trace(request, machine, summary);
  }
  if (summary.lost_records != 0) {
    summary.advice.emplace_back(
        backend == "uprobe" ? "record for a shorter time, or a function that is called less often"
                            : "record fewer threads, or for a shorter time");
  }
  return summary;
}

} // namespace ptlens::record
