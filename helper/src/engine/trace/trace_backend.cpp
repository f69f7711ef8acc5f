// Each thread has a call builder, which takes the thread's branches in order of time.
#include "engine/trace/trace_backend.hpp"

#include "base/cancellation.hpp"
#include "cache/reading/call_rows.hpp"
#include "cache/writing/table_cache.hpp"
#include "engine/recording/asked_functions.hpp"
#include "engine/trace/trace_threads.hpp"
#include "stacks/calls/call_table.hpp"
#include "stacks/pairing/call_pairing.hpp"
#include "stacks/threads/call_builder.hpp"
#include "stacks/threads/filtered_calls.hpp"
#include "stacks/threads/inlined_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"
#include "stacks/transfer/transfer_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>

namespace ptlens::engine {
namespace {

// "function+0x12" for what a branch goes to.
class Namer {
public:
  Namer(const symbols::AddressSpaces& spaces, stacks::Symbolizer& symbolizer)
      : spaces_(&spaces), symbolizer_(&symbolizer) {}

  // Sets symbol and kind. Returns false when the branch is left out.
  bool name(const flow::Run& run, const flow::Branch& branch, bool calls_only) {
    const auto& space = spaces_->at(run.pid, code_times_[run.tid].of(branch));
    const std::uint64_t address = branch.to != 0 ? branch.to : branch.from;
    const stacks::CodeLocation to = symbolizer_->resolve(space, address);
    kind = flow::name(branch.kind);
    if (calls_only &&
        (branch.kind == flow::BranchKind::jump || branch.kind == flow::BranchKind::cond ||
         branch.kind == flow::BranchKind::indirect)) {
      const stacks::CodeLocation from = symbolizer_->resolve(space, branch.from);
      if (!to.entry || !stacks::is_tail_call(to, from.function) || from.is_stub) {
        return false;
      }
      kind = "tail";
    }
    symbol = symbolizer_->functions()[to.function].name;
    if (to.known && !to.entry) {
      const symbols::MappedCode* mapped = space.find(address);
      const std::uint64_t entry = symbolizer_->functions()[to.function].address + mapped->bias;
      if (address > entry) {
        symbol += fmt::format("+{:#x}", address - entry);
      }
    }
    return true;
  }

  std::string symbol;
  std::string_view kind;

private:
  const symbols::AddressSpaces* spaces_;
  stacks::Symbolizer* symbolizer_;
  std::unordered_map<std::int32_t, flow::CodeTime> code_times_; // by tid
};

// Returns the sink for the calls of the thread with that index.
using SinkOf = std::function<stacks::CallSink&(std::uint32_t)>;

class CallMaker {
public:
  // `inlined`: null where inlined code is not requested. The references must outlive the object.
  CallMaker(const LoadedRecording& loaded, stacks::Symbolizer& symbolizer, InlinedPlaces* inlined,
            SinkOf sink_of)
      : loaded_(&loaded), symbolizer_(&symbolizer), inlined_(inlined),
        sink_of_(std::move(sink_of)) {}

  std::unique_ptr<stacks::ThreadCalls> make(std::uint32_t thread, std::int32_t tid) {
    stacks::CallSink& sink = sink_of_(thread);
    const perfdata::ContextSwitches& context_switches = *loaded_->context_switches;
    if (!loaded_->address_filter().empty()) {
      return std::make_unique<stacks::FilteredCalls>(sink, *symbolizer_, context_switches, tid);
    }
    if (inlined_ != nullptr) {
      return std::make_unique<stacks::InlinedCalls>(inlined_->counted(), sink, *symbolizer_, facts_,
                                                    context_switches, tid);
    }
    return std::make_unique<stacks::CallBuilder>(sink, *symbolizer_, facts_, context_switches, tid);
  }

private:
  const LoadedRecording* loaded_;
  stacks::Symbolizer* symbolizer_;
  InlinedPlaces* inlined_;
  SinkOf sink_of_;
  stacks::CodeFacts facts_;
};

// Adds the notes on what the trace does not show, and its uncertainty.
void add_notes(measure::RecordingInfo& info, const LoadedRecording& loaded,
               const flow::DecodeSummary& summary) {
  for (const std::string& warning : summary.warnings) {
    info.notes.push_back({.code = "decoder", .arguments = {}, .text = warning});
  }
  for (const perfdata::AuxTraceError& error : loaded.recording.trace_errors()) {
    info.notes.push_back(
        make_note("perf_trace_error", "perf reported while recording: {}", error.message));
  }
  if (const std::string filter = loaded.address_filter(); !filter.empty()) {
    info.notes.push_back(make_note(
        "address_filter",
        "the recording used an address filter ({}): only that code was traced. Calls from it to "
        "other code have a duration and no details. Calls of other functions from elsewhere are "
        "not visible. A call that ends by a jump out of the range is incomplete",
        filter));
  }
  if (summary.unowned_bytes != 0) {
    info.notes.push_back(make_note("unowned_trace",
                                   "{} bytes of trace were left out: according to the switch "
                                   "records their CPU was idle, so that their thread is unknown",
                                   summary.unowned_bytes));
  }
  if (summary.has_time) {
    info.uncertainty_ns = summary.uncertainty_ns;
  } else {
    info.notes.push_back(make_note("no_timing",
                                   "the trace has no timing packets: calls are counted, but their "
                                   "latency is unknown; record with tsc, mtc and cyc"));
  }
}

// Measures all but the calls, which go to the sinks. `inlined`: the requested inlined code, null
// for none. `finish` is called when all calls are closed.
Result<measure::Measurement> measure_calls(const LoadedRecording& loaded, InlinedPlaces* inlined,
                                           const SinkOf& sink_of,
                                           const std::function<void(stacks::Symbolizer&)>& finish,
                                           const measure::Watch& watch, const Progress& progress) {
  using Clock = measure::WatchedFunction::Clock;
  stacks::Symbolizer symbolizer;
  measure::WatchedFunction watched(watch, symbolizer.functions(), Clock::now());
  measure::Measurement measurement;
  measurement.recording = describe(loaded);
  measurement.recording.backend = "intel_pt";
  const bool calls_alone = loaded.address_filter().empty() && inlined == nullptr;
  Branches source(loaded, calls_alone ? flow::Detail::calls : flow::Detail::branches,
                  calls_alone ? flow::MakeConsumer(stacks::make_call_pairing)
                              : flow::MakeConsumer());
  CallMaker calls(loaded, symbolizer, inlined, [&](std::uint32_t thread) -> stacks::CallSink& {
    stacks::CallSink& sink = sink_of(thread);
    return watch.is_set() ? watched.before(sink) : sink;
  });
  Threads threads(loaded, measurement.threads, [&calls](std::uint32_t thread, std::int32_t tid) {
    return calls.make(thread, tid);
  });
  const auto taken =
      take_all(source, loaded.recording.trace_bytes(), progress, [&](flow::Run& run) {
        symbolizer.set_numbering(run.numbering);
        threads.take(run);
        if (watch.is_set()) {
          watched.report_if_due(Clock::now(), source.bytes_done(), loaded.recording.trace_bytes());
        }
      });
  if (!taken) {
    return std::unexpected(taken.error());
  }
  auto gaps = threads.finish();
  finish(symbolizer);
  measurement.functions = std::move(symbolizer.functions());
  measurement.sites = std::move(symbolizer.sites());
  measurement.self_at_most.assign(threads.lost_inside().begin(), threads.lost_inside().end());
  for (const stacks::FunctionId function : measurement.functions.ids()) {
    if (measurement.functions[function].name == stacks::missing_code) {
      measurement.self_unknown.push_back(function);
    }
  }
  sum_up(measurement, std::move(gaps));

  const flow::DecodeSummary summary = source.summary();
  measure::RecordingInfo& info = measurement.recording;
  info.decode_errors = summary.decode_errors;
  add_notes(info, loaded, summary);
  if (const auto note = threads.untraced().note()) {
    info.notes.push_back(*note);
  }
  if (threads.indistinct_switches() != 0) {
    info.notes.push_back(
        make_note("indistinct_switches",
                  "{} times a coroutine was resumed where several waited at the same place: it was "
                  "taken to be the one that had waited longest, so that the latencies of their "
                  "calls may be exchanged",
                  threads.indistinct_switches()));
  }
  if (threads.goroutine_switches() != 0) {
    info.notes.push_back(make_note(
        "goroutine_switches",
        "{} times a thread went on with another goroutine, and the trace does not say which. Calls "
        "that a goroutine was in when its thread left it are incomplete, with their time until "
        "then. Probes follow goroutines: record with --backend uprobe",
        threads.goroutine_switches()));
  }
  return measurement;
}

} // namespace

std::vector<std::string> names_inlined(const LoadedRecording& loaded,
                                       const std::vector<stacks::FunctionInfo>& functions) {
  std::set<std::string_view> used;
  for (const stacks::FunctionInfo& function : functions) {
    if (function.address != 0) {
      used.insert(function.binary);
    }
  }
  std::vector<std::string> names;
  for (const symbols::MappedCode* code : loaded.spaces->binaries()) {
    if (used.contains(code->path) && !cancel_asked()) {
      const auto more = code->binary->inlined_names();
      names.insert(names.end(), more.begin(), more.end());
    }
  }
  std::ranges::sort(names);
  const auto repeats = std::ranges::unique(names);
  names.erase(repeats.begin(), repeats.end());
  return names;
}

Result<measure::Measurement> measure_trace(const LoadedRecording& loaded, cache::Writer& writer,
                                           const measure::Watch& watch, const Progress& progress) {
  return measure_calls(
      loaded, nullptr,
      [&](std::uint32_t thread) -> stacks::CallSink& { return writer.thread(thread); },
      [&](stacks::Symbolizer& symbolizer) { add_asked_functions(loaded, symbolizer); }, watch,
      progress);
}

Result<measure::InlinedMeasurement>
measure_inlined(const LoadedRecording& loaded, InlinedPlaces& places, const Progress& progress) {
  stacks::CallTableBuilder builder;
  stacks::CallTable calls;
  auto measurement = measure_calls(
      loaded, &places,
      [&](std::uint32_t thread) -> stacks::CallSink& { return builder.thread(thread); },
      [&](stacks::Symbolizer& symbolizer) {
        calls = builder.take_as_opened();
        places.finish(calls, symbolizer);
        stacks::order(calls);
      },
      {}, progress);
  if (!measurement) {
    return std::unexpected(measurement.error());
  }
  auto cached = cache::cache_of(calls, {.functions = measurement->functions,
                                        .sites = measurement->sites,
                                        .threads = measurement->threads,
                                        .more = {}});
  if (!cached) {
    return std::unexpected(cached.error());
  }
  measurement->cache = std::move(*cached);
  measure::InlinedMeasurement inlined = places.take();
  inlined.measurement = std::move(*measurement);
  return inlined;
}

Result<flow::DecodeSummary> decode_trace(const LoadedRecording& loaded, bool calls_only,
                                         const BranchListener& listener, const Progress& progress) {
  Branches source(loaded, calls_only ? flow::Detail::calls : flow::Detail::branches);
  stacks::Symbolizer symbolizer;
  Namer namer(*loaded.spaces, symbolizer);
  while (const auto run = source.next()) {
    if (progress.cancelled()) {
      return std::unexpected(decoding_cancelled());
    }
    for (const flow::Branch& branch : run->branches) {
      if (namer.name(*run, branch, calls_only)) {
        listener(*run, branch, namer.kind, namer.symbol);
      }
    }
  }
  return source.summary();
}

} // namespace ptlens::engine
