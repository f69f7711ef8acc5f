// Reads the samples, and says what the figures do not show.
#include "engine/probes/probe_backend.hpp"

#include "engine/probes/probe_threads.hpp"
#include "perfdata/read_samples.hpp"
#include "record/probes/cost/probe_load.hpp"

#include <algorithm>
#include <cmath>

namespace ptlens::engine {
namespace {

void note_costs(bool measured, measure::RecordingInfo& info) {
  constexpr double slowed = 1.1;
  if (!measured) {
    info.notes.push_back(make_note(
        "probe_cost_assumed",
        "the cost of a probe hit was not measured. The figures assume 0 to 20 µs for each, "
        "and their uncertainty contains this"));
  }
  if (info.slowdown > slowed && info.off_cpu_known) {
    info.notes.push_back(make_note(
        "waits_with_probes",
        "off-CPU time is as measured and cannot be corrected: where the program waited for its own "
        "threads, which the probes made {}, it waited longer than it does alone",
        record::times_slower(info.slowdown)));
  }
}

void note_goroutines(const ProbeThreads& threads, measure::RecordingInfo& info) {
  if (threads.any_goroutines()) {
    info.off_cpu_known = false;
    info.notes.push_back(make_note("goroutines_off_cpu",
                                   "calls are matched by goroutine, and belong to the thread on "
                                   "which they began. Off-CPU time "
                                   "is unknown: while a goroutine waits, its thread runs others, "
                                   "and the probes do not see it"));
  }
  if (threads.hits_of_no_goroutine() != 0) {
    info.notes.push_back(make_note(
        "hits_of_no_goroutine",
        "{} hits of probes are not used, because they were not on the stack of the goroutine in "
        "register R14, as in assembly and in signal handlers. Some calls are missing or incomplete",
        threads.hits_of_no_goroutine()));
  }
  if (threads.hits_left_out() != 0) {
    info.notes.push_back(
        make_note("too_many_goroutines",
                  "calls are missing, because more than {} goroutines were in measured calls at "
                  "once: {} hits of probes are not used",
                  GoroutineRows::most_rows, threads.hits_left_out()));
  }
}

} // namespace

Result<measure::Measurement> measure_probes(const LoadedRecording& loaded, cache::Writer& writer,
                                            const Progress& progress) {
  measure::Measurement measurement;
  measurement.recording = describe(loaded);
  measurement.recording.backend = "uprobe";
  ProbeThreads threads(loaded, measurement, writer);
  std::uint64_t foreign = 0;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  const auto extend = [&](std::uint64_t time_ns) {
    if (time_ns != 0) {
      first = std::min(first, time_ns);
      last = std::max(last, time_ns);
    }
  };
  const auto take = [&](const perfdata::Sample& sample) {
    if (perfdata::is_wait_event(loaded.recording.attributes()[sample.attribute])) {
      threads.add_switch(sample);
      return;
    }
    extend(sample.time_ns);
    if (!threads.add(sample)) {
      ++foreign;
    }
  };
  if (auto read = perfdata::read_samples(loaded.recording, "reading", progress, take); !read) {
    return std::unexpected(read.error());
  }
  for (const perfdata::Switch& record : loaded.recording.switches()) {
    extend(record.time_ns);
  }
  if (loaded.manifest && !loaded.manifest->measured.empty()) {
    first = loaded.manifest->measured.front().begin_ns; // mappings were recorded before
    last = std::max(loaded.manifest->measured.back().end_ns, loaded.manifest->end_ns);
  }
  threads.finish(first == UINT64_MAX ? 0 : first, last);
  sum_up(measurement, threads.gaps());
  measure::RecordingInfo& info = measurement.recording;
  if (loaded.manifest) {
    info.slowdown = loaded.manifest->slowdown;
    info.bursts = loaded.manifest->measured.size();
  }
  if (!std::isfinite(info.slowdown) || info.slowdown <= 1) {
    info.slowdown = threads.slowdown();
  }
  info.uncertainty_ns = threads.costs().resolution_ns();
  note_costs(threads.costs().measured(), info);
  if (foreign != 0) {
    info.notes.push_back(
        make_note("foreign_samples", "{} samples belong to no probe of this recording", foreign));
  }
  note_goroutines(threads, info);
  if (info.lost_records != 0) {
    info.notes.push_back(
        make_note("lost_records",
                  "perf dropped {} records: calls are missing, and the calls around them are wrong "
                  "or incomplete; measure for a shorter time, or a function that is called less "
                  "often",
                  info.lost_records));
  }
  return measurement;
}

} // namespace ptlens::engine
