#include "engine/probes/probe_threads.hpp"

#include "engine/probes/unmeasured_callees.hpp"
#include "engine/recording/asked_functions.hpp"
#include "record/goroutine_sample.hpp"
#include "record/probes/cost/probe_load.hpp"
#include "waits/samples.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>

namespace ptlens::engine {
namespace {

struct Payload { // record/manifest.hpp
  std::uint64_t address = 0;
  std::uint64_t place = 0; // where the thread goes on: of a return probe, the return address
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
  std::memcpy(&payload.place, raw.data() + 16, word);
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
  payload.place = payload.address;
  std::memcpy(&payload.stack_pointer, raw.data() + common + word, word);
  if (raw.size() >= common + 3 * word) {
    std::memcpy(&payload.return_address, raw.data() + common + 2 * word, word);
  }
  return payload;
}

} // namespace

ProbeThreads::ProbeThreads(const LoadedRecording& loaded, measure::Measurement& measurement,
                           cache::Writer& writer)
    : loaded_(&loaded), measurement_(&measurement), writer_(&writer),
      table_(loaded.manifest.value_or(record::Manifest{}).probes), costs_(table_.probes()),
      goroutines_([this](std::size_t row) -> stacks::ProbeCalls& { return threads_[row]; },
                  [this](const GoroutineHit& hit) {
                    return add_row(hit.pid, hit.tid, hit.hit.time_ns, true);
                  }) {
  for (const record::Probe& probe : table_.probes()) {
    callees_end_ns_ = std::max(callees_end_ns_, probe.end_ns);
    if (probe.kind == record::Probe::Kind::returned) {
      returned_events_.insert(probe.event_id);
      returning_.emplace(probe.binary, probe.function);
    }
  }
}

bool ProbeThreads::add(const perfdata::Sample& sample) {
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
    hit.late = costs_.late(*probe);
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
  hit_places_.insert(payload->place);
  const std::size_t index = thread(sample);
  stacks::ThreadInfo& info = measurement_->threads[index];
  info.last_ns = std::max(info.last_ns, sample.time_ns);
  threads_[index].add(hit);
  return true;
}

void ProbeThreads::add_switch(const perfdata::Sample& sample) {
  const perfdata::Attribute& attribute = loaded_->recording.attributes()[sample.attribute];
  const auto row = index_.find(sample.tid);
  if (attribute.name != perfdata::switch_event || row == index_.end()) {
    return;
  }
  if (const auto place = waits::user_place(sample.registers, attribute.registers)) {
    threads_[row->second].add_switch(sample.time_ns, may_be_in_hit(sample, *place));
  }
}

// While a hit is handled, the thread is at the probe or behind it, or in the kernel's page of
// probes, which no recorded mapping contains.
bool ProbeThreads::may_be_in_hit(const perfdata::Sample& sample, std::uint64_t place) const {
  constexpr std::uint64_t longest_instruction = 15; // bytes
  const auto after = hit_places_.upper_bound(place);
  if (after != hit_places_.begin() && place - *std::prev(after) <= longest_instruction) {
    return true;
  }
  const symbols::MappedCode* mapped = loaded_->spaces->at(sample.pid, sample.time_ns).find(place);
  return mapped == nullptr || mapped->path == "[uprobes]";
}

void ProbeThreads::go_on_to(std::uint64_t time_ns) {
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

std::vector<stacks::Gap> ProbeThreads::gaps() const {
  std::vector<stacks::Gap> gaps;
  const std::vector<record::Interval>& measured = intervals();
  for (std::size_t next = 1; next < measured.size(); ++next) {
    gaps.emplace_back(measured[next - 1].end_ns, measured[next].begin_ns);
  }
  if (!measured.empty() && loaded_->manifest->end_ns > measured.back().end_ns) {
    gaps.emplace_back(measured.back().end_ns, loaded_->manifest->end_ns);
  }
  return gaps;
}

void ProbeThreads::finish(std::uint64_t first_ns, std::uint64_t last_ns) {
  go_on_to(last_ns);
  const std::uint64_t measured_until =
      intervals().empty() ? last_ns : std::min(last_ns, intervals().back().end_ns);
  std::set<stacks::FunctionId> self_unknown;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    stacks::ThreadInfo& info = measurement_->threads[i];
    const bool exited = !of_goroutines_[i] && loaded_->exited(info, info.first_ns);
    threads_[i].finish(exited ? info.last_ns : measured_until, exited);
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

double ProbeThreads::slowdown() const {
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
  return record::slowdown(spent / with_probes);
}

const std::vector<record::Interval>& ProbeThreads::intervals() const {
  static const std::vector<record::Interval> none;
  return loaded_->manifest ? loaded_->manifest->measured : none;
}

std::size_t ProbeThreads::thread(const perfdata::Sample& sample) {
  const auto [entry, added] = index_.try_emplace(sample.tid, threads_.size());
  if (added) {
    add_row(sample.pid, sample.tid, sample.time_ns, false);
  }
  return entry->second;
}

std::size_t ProbeThreads::add_row(std::int32_t pid, std::int32_t tid, std::uint64_t time_ns,
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

bool ProbeThreads::follow_goroutine(const perfdata::Sample& sample, const record::Probe& probe,
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

stacks::FunctionId ProbeThreads::tail_target(const symbols::AddressSpaceVersion& space,
                                             const symbols::MappedCode& mapped,
                                             const record::Probe& probe, std::uint64_t address) {
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

stacks::SiteId ProbeThreads::call_site(const symbols::AddressSpaceVersion& space,
                                       std::uint64_t return_address) {
  const auto [entry, added] =
      site_of_.try_emplace({space.serial, return_address}, stacks::SiteId::none);
  if (added) {
    entry->second = symbolizer_.site_before(space, return_address);
  }
  return entry->second;
}

stacks::FunctionId ProbeThreads::caller(const symbols::AddressSpaceVersion& space,
                                        std::uint64_t return_address) {
  const auto [entry, added] =
      caller_of_.try_emplace({space.serial, return_address}, stacks::FunctionId::none);
  if (added && return_address != 0) { // a call can be the last instruction of its function
    entry->second = symbolizer_.resolve(space, return_address - 1).function;
  }
  return entry->second;
}

} // namespace ptlens::engine
