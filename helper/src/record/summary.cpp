// What was asked for, what was recorded, what was lost on the way, and what to change.
#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ptlens::record {
namespace {

std::string target_of(const Request& request) {
  if (request.pid) {
    return fmt::format("process {}", *request.pid);
  }
  if (request.tid) {
    return fmt::format("thread {}", *request.tid);
  }
  if (request.cpu) {
    return fmt::format("CPU {}", *request.cpu);
  }
  return request.all_cpus ? "all CPUs" : "program " + request.program.front();
}

void advise_on_trace(const Request& request, const Machine& machine, Summary& summary) {
  if (summary.traced_bytes == 0) {
    summary.advice.emplace_back("nothing that was traced ran: measure while it works, for longer, "
                                "or without --filter");
  }
  if (summary.truncated == 0) {
    return;
  }
  const bool may_filter = machine.intel_pt && machine.intel_pt->ip_filtering && !request.filter &&
                          !request.function.empty();
  if (may_filter) {
    summary.advice.emplace_back("--filter traces the function alone, a fifth of the data or less");
  }
  if (request.pid || request.all_cpus) {
    summary.advice.emplace_back("--tid traces one thread alone");
  }
  summary.advice.emplace_back("--snapshot keeps the last moments, and loses nothing in them");
  if (!machine.rights.root && !machine.rights.ipc_lock) {
    summary.advice.emplace_back("larger buffers: sudo sysctl kernel.perf_event_mlock_kb=8192");
  }
}

} // namespace

Summary summarise(const Request& request, const Machine& machine, const SessionEnd& end,
                  const perfdata::Recording& recording, const std::string& backend) {
  Summary summary;
  summary.target = target_of(request);
  summary.asked_s = request.duration_s;
  summary.traced_s = end.measured_s;
  summary.traced_bytes = recording.trace_bytes();
  summary.hits = recording.samples().size();
  std::set<std::int32_t> threads;
  for (const perfdata::Switch& change : recording.switches()) {
    if (change.tid > 0) {
      threads.insert(change.tid);
    }
  }
  for (const perfdata::TraceStart& start : recording.trace_starts()) {
    threads.insert(start.tid);
  }
  for (const perfdata::Sample& sample : recording.samples()) {
    threads.insert(sample.tid);
  }
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
        backend == "uprobe" ? "measure for a shorter time, or a function that is called less often"
                            : "measure fewer threads, or for a shorter time");
  }
  return summary;
}

} // namespace ptlens::record
