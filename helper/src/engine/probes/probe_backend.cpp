// Each sample of a probe is a hit. The manifest gives its function, and the return address in its
// payload gives the call site.
#include "engine/probes/probe_backend.hpp"

#include "engine/probes/goroutine_rows.hpp"
#include "engine/probes/probe_costs.hpp"
#include "engine/probes/unmeasured_callees.hpp"
#include "engine/recording/asked_functions.hpp"
#include "record/goroutine_sample.hpp"
#include "stacks/threads/probe_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace ptlens::engine {
namespace {

constexpr std::size_t samples_a_check = 4096;

struct Payload { // record/manifest.hpp
  std::uint64_t address = 0;
  std::uint64_t stack_pointer = 0;
  std::uint64_t return_address = 0; // entry probes only
};

// The payload of a return probe, whose stack pointer is behind the return address.
std::optional<Payload> read_returned(std::span<const std::byte> raw) {
  constexpr std::size_t stack_pointer = 24;
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (raw.size() < stack_pointer + word) {
    return std::nullopt;
  }
  Payload payload;
  std::memcpy(&payload.address, raw.data() + 8, word);
  std::memcpy(&payload.stack_pointer, raw.data() + stack_pointer, word);
  payload.stack_pointer -= word;
  return payload;
}

std::optional<Payload> read_payload(std::span<const std::byte> raw) {
  constexpr std::size_t common = 8;
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (raw.size() < common + 2 * word) {
    return std::nullopt;
  }
  Payload payload;
  std::memcpy(&payload.address, raw.data() + common, word);
  std::memcpy(&payload.stack_pointer, raw.data() + common + word, word);
  if (raw.size() >= common + 3 * word) {
    std::memcpy(&payload.return_address, raw.data() + common + 2 * word, word);
  }
  return payload;
}

class ProbeThreads {
public:
  ProbeThreads(const LoadedRecording& loaded, measure::Measurement& measurement,
               cache::Writer& writer)
      : loaded_(&loaded), measurement_(&measurement), writer_(&writer),
        table_(loaded.manifest.value_or(record::Manifest{}).probes), costs_(table_.probes()),
        goroutines_([this](std::size_t row) -> stacks::ProbeCalls& { return threads_[row]; },
                    [this](const GoroutineHit& hit) { return add_goroutine_row(hit); }) {
    for (const record::Probe& probe : table_.probes()) {
      callees_end_ns_ = std::max(callees_end_ns_, probe.end_ns);
      if (probe.kind == record::Probe::Kind::returned) {
        returned_events_.insert(probe.event_id);
        returning_.emplace(probe.binary, probe.function);
      }
    }
  }

  // Returns false when the sample belongs to none of our probes.
  bool add(const perfdata::Sample& sample) {
    const std::uint64_t event = loaded_->recording.attributes()[sample.attribute].config;
    const auto payload =
        returned_events_.contains(event) ? read_returned(sample.raw) : read_payload(sample.raw);
    if (!payload) {
      return false;
    }
    if (loaded_->pid && *loaded_->pid != sample.pid) {
      return true; // of a process that was not requested
    }
    const auto& space = loaded_->spaces->at(sample.pid, sample.time_ns);
    const symbols::MappedCode* mapped = space.find(payload->address);
    if (mapped == nullptr) {
      return false;
    }
    const record::Probe* probe = table_.find(event, mapped->path, payload->address - mapped->bias);
    if (probe == nullptr) {
      return false;
    }
    stacks::ProbeHit hit;
    hit.time_ns = sample.time_ns;
    hit.stack_pointer = payload->stack_pointer;
    hit.function = symbolizer_.resolve(space, probe->function + mapped->bias).function;
    hit.entry = probe->kind == record::Probe::Kind::entry;
    hit.returns = hit.entry ? returning_.contains({probe->binary, probe->function})
                            : probe->kind == record::Probe::Kind::returned;
    hit.callee = !probe->target;
    hit.tail_exit = probe->tail_call;
    hit.cost = costs_.of_hit(*probe);
    if (hit.tail_exit) {
      hit.site = symbolizer_.site(space, payload->address);
      hit.tail_target = tail_target(space, *mapped, *probe, payload->address);
    }
    if (hit.entry) {
      hit.site = call_site(space, payload->return_address);
      hit.return_address = payload->return_address;
      hit.excess = costs_.excess(*probe);
      if (hit.callee) {
        hit.caller = caller(space, payload->return_address);
      }
    }
    go_on_to(sample.time_ns);
    hit.restart = probe->kind == record::Probe::Kind::restart;
    hit.stops = probe->end_ns != 0;
    if (hit.stops && sample.time_ns >= probe->end_ns) {
      threads_[thread(sample)].spend(hit.cost);
      return true;
    }
    if (probe->goroutine && !follow_goroutine(sample, *probe, hit)) {
      return true;
    }
    const std::size_t index = thread(sample);
    stacks::ThreadInfo& info = measurement_->threads[index];
    info.last_ns = std::max(info.last_ns, sample.time_ns);
    threads_[index].add(hit);
    return true;
  }

  // Ends the open calls of intervals that ended before this time: their ends were not recorded.
  void go_on_to(std::uint64_t time_ns) {
    const std::vector<record::Interval>& measured = intervals();
    while (interval_ + 1 < measured.size() && measured[interval_ + 1].begin_ns <= time_ns) {
      for (stacks::ProbeCalls& calls : threads_) {
        calls.finish(measured[interval_].end_ns, false);
      }
      goroutines_.clear();
      ++interval_;
    }
    if (callees_end_ns_ != 0 && callees_end_ns_ <= time_ns) {
      for (stacks::ProbeCalls& calls : threads_) {
        calls.stop_callees(callees_end_ns_);
      }
      callees_end_ns_ = 0;
    }
  }

  // Returns the times in which nothing was measured.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    const std::vector<record::Interval>& measured = intervals();
    for (std::size_t next = 1; next < measured.size(); ++next) {
      gaps.emplace_back(measured[next - 1].end_ns, measured[next].begin_ns);
    }
    if (!measured.empty() && loaded_->manifest->end_ns > measured.back().end_ns) {
      gaps.emplace_back(measured.back().end_ns, loaded_->manifest->end_ns);
    }
    return gaps;
  }

  [[nodiscard]] bool any_goroutines() const { return any_goroutines_; }
  [[nodiscard]] std::uint64_t hits_left_out() const { return goroutines_.left_out(); }
  // Returns the number of hits in code of Go that belong to no goroutine.
  [[nodiscard]] std::uint64_t hits_of_no_goroutine() const { return hits_of_no_goroutine_; }

  void finish(std::uint64_t first_ns, std::uint64_t last_ns) {
    go_on_to(last_ns);
    std::set<stacks::FunctionId> self_unknown;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      stacks::ThreadInfo& info = measurement_->threads[i];
      const bool exited = !of_goroutines_[i] && loaded_->exited(info, info.first_ns);
      threads_[i].finish(exited ? info.last_ns : last_ns, exited);
      // The probes watch every thread while they are enabled, with or without hits.
      info.first_ns = first_ns;
      info.last_ns = std::max(info.last_ns, last_ns);
      self_unknown.insert(threads_[i].callers_of_unseen().begin(),
                          threads_[i].callers_of_unseen().end());
    }
    add_asked_functions(*loaded_, symbolizer_);
    measurement_->functions = std::move(symbolizer_.functions());
    measurement_->sites = std::move(symbolizer_.sites());
    const std::vector<stacks::FunctionId> unmeasured = with_unmeasured_callees(
        measurement_->functions, table_.probes(), loaded_->spaces->binaries());
    self_unknown.insert(unmeasured.begin(), unmeasured.end());
    measurement_->self_unknown.assign(self_unknown.begin(), self_unknown.end());
  }

  [[nodiscard]] const ProbeCosts& costs() const { return costs_; }

  // Returns how many times longer the hits made the threads run.
  [[nodiscard]] double slowdown() const {
    constexpr double most = 1000;
    double with_probes = 0;
    double spent = 0;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const stacks::ThreadInfo& info = measurement_->threads[i];
      const std::uint64_t off_cpu =
          loaded_->context_switches->off_cpu(info.tid, info.first_ns, info.last_ns).total_ns();
      const std::uint64_t traced = info.last_ns - info.first_ns;
      with_probes += static_cast<double>(traced - std::min(traced, off_cpu));
      spent += threads_[i].spent().ns;
    }
    if (with_probes <= 0) {
      return 1;
    }
    return with_probes / std::max(with_probes - spent, with_probes / most);
  }

private:
  [[nodiscard]] const std::vector<record::Interval>& intervals() const {
    static const std::vector<record::Interval> none;
    return loaded_->manifest ? loaded_->manifest->measured : none;
  }

  std::size_t thread(const perfdata::Sample& sample) {
    const auto [entry, added] = index_.try_emplace(sample.tid, threads_.size());
    if (added) {
      add_row(sample.pid, sample.tid, sample.time_ns, false);
    }
    return entry->second;
  }

  std::size_t add_row(std::int32_t pid, std::int32_t tid, std::uint64_t time_ns,
                      bool of_goroutines) {
    const std::size_t row = threads_.size();
    stacks::ThreadInfo info = loaded_->thread(pid, tid);
    info.first_ns = time_ns;
    measurement_->threads.push_back(std::move(info));
    of_goroutines_.push_back(of_goroutines);
    threads_.emplace_back(writer_->thread(static_cast<std::uint32_t>(row)),
                          of_goroutines ? no_switches_ : *loaded_->context_switches, tid);
    return row;
  }

  std::size_t add_goroutine_row(const GoroutineHit& hit) {
    return add_row(hit.pid, hit.tid, hit.hit.time_ns, true);
  }

  // Takes a hit in code of Go. Returns true where it belongs to the thread: the code runs on no
  // goroutine of the program.
  bool follow_goroutine(const perfdata::Sample& sample, const record::Probe& probe,
                        const stacks::ProbeHit& hit) {
    const auto goroutine = record::goroutine_sample(sample.raw);
    const bool end = probe.kind == record::Probe::Kind::goroutine_end;
    if (!goroutine) {
      ++hits_of_no_goroutine_;
      return false;
    }
    if (goroutine->number == 0) {
      return !end;
    }
    any_goroutines_ = true;
    GoroutineHit taken{
        .pid = sample.pid, .tid = sample.tid, .number = goroutine->number, .end = end, .hit = hit};
    taken.hit.stack_pointer = goroutine->place;
    goroutines_.add(taken);
    return false;
  }

  // Returns the target function of a jump out of another function; none where it is unknown.
  stacks::FunctionId tail_target(const symbols::AddressSpaceVersion& space,
                                 const symbols::MappedCode& mapped, const record::Probe& probe,
                                 std::uint64_t address) {
    const auto [entry, added] =
        tail_of_.try_emplace({space.serial, address}, stacks::FunctionId::none);
    const auto to = std::ranges::find(space.code, probe.to_binary, &symbols::MappedCode::path);
    if (added && to != space.code.end()) {
      entry->second = symbolizer_.resolve(space, probe.to_function + to->bias).function;
    } else if (added && mapped.binary) {
      const auto index = mapped.binary->function_entry(probe.function);
      if (!index) {
        return entry->second;
      }
      for (const symbols::Exit& exit : mapped.binary->exit_points(*index)) {
        if (exit.address + mapped.bias == address && exit.target != 0) {
          const stacks::CodeLocation place = symbolizer_.resolve(space, exit.target + mapped.bias);
          entry->second = place.is_stub ? stacks::FunctionId::none : place.function;
        }
      }
    }
    return entry->second;
  }

  stacks::SiteId call_site(const symbols::AddressSpaceVersion& space,
                           std::uint64_t return_address) {
    const auto [entry, added] =
        site_of_.try_emplace({space.serial, return_address}, stacks::SiteId::none);
    if (added) {
      entry->second = symbolizer_.site_before(space, return_address);
    }
    return entry->second;
  }

  stacks::FunctionId caller(const symbols::AddressSpaceVersion& space,
                            std::uint64_t return_address) {
    const auto [entry, added] =
        caller_of_.try_emplace({space.serial, return_address}, stacks::FunctionId::none);
    if (added && return_address != 0) { // a call can be the last instruction of its function
      entry->second = symbolizer_.resolve(space, return_address - 1).function;
    }
    return entry->second;
  }

  const LoadedRecording* loaded_;
  measure::Measurement* measurement_;
  cache::Writer* writer_;
  record::ProbeTable table_;
  ProbeCosts costs_;
  stacks::Symbolizer symbolizer_;
  std::deque<stacks::ProbeCalls> threads_;
  std::set<std::uint64_t> returned_events_;                   // of return probes
  std::set<std::pair<std::string, std::uint64_t>> returning_; // functions with return probes
  std::vector<bool> of_goroutines_;                           // by row
  std::unordered_map<std::int32_t, std::size_t> index_;       // rows of threads
  const flow::ContextSwitches no_switches_{{}};
  GoroutineRows goroutines_;
  bool any_goroutines_ = false;
  std::uint64_t hits_of_no_goroutine_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, stacks::SiteId> site_of_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, stacks::FunctionId> tail_of_;
  std::size_t interval_ = 0;         // of the hits so far
  std::uint64_t callees_end_ns_ = 0; // when their probes were removed; 0: not, or it is past
  std::map<std::pair<std::uint64_t, std::uint64_t>, stacks::FunctionId> caller_of_;
};

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
        "threads, which the probes made {} times slower, it waited longer than it does alone",
        fmt::format("{:.2f}", info.slowdown)));
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
  const std::size_t samples = loaded.recording.samples().size();
  std::uint64_t foreign = 0;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  const auto extend = [&](std::uint64_t time_ns) {
    if (time_ns != 0) {
      first = std::min(first, time_ns);
      last = std::max(last, time_ns);
    }
  };
  std::size_t read = 0;
  loaded.recording.each_sample([&](const perfdata::Sample& sample) {
    if (read++ % samples_a_check == 0) {
      if (progress.cancelled()) {
        return false;
      }
      progress.report({"reading", read, samples, "samples"});
    }
    if (perfdata::is_wait_event(loaded.recording.attributes()[sample.attribute])) {
      return true;
    }
    extend(sample.time_ns);
    if (!threads.add(sample)) {
      ++foreign;
    }
    return true;
  });
  if (progress.cancelled()) {
    return std::unexpected(
        Error{.kind = Error::Kind::cancelled, .message = "reading was cancelled"});
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
