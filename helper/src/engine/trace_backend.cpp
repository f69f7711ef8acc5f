// Runs of branches, in order of time, to one call builder for each thread.
#include "engine/trace_backend.hpp"

#include "base/cancellation.hpp"
#include "engine/untraced_time.hpp"
#include "flow/branch_source.hpp"
#include "flow/code_time.hpp"
#include "flow/decode_context.hpp"
#include "stacks/call_builder.hpp"
#include "stacks/call_table.hpp"
#include "stacks/filtered_calls.hpp"
#include "stacks/inlined_calls.hpp"
#include "stacks/resolver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>

namespace ptlens::engine {
namespace {

constexpr std::uint64_t bytes_a_progress_report = 1U << 20U;

Error cancelled() {
  return {.kind = Error::Kind::cancelled, .message = "decoding was cancelled"};
}

// All branches of a recording.
class Branches {
public:
  Branches(const LoadedRecording& loaded, flow::Detail detail)
      : context_(make_context(loaded, detail, 0)),
        source_(
            loaded.recording, *context_,
            [&loaded, detail](std::uint32_t numbering) {
              return make_context(loaded, detail, numbering);
            },
            loaded.decode) {}

  std::optional<flow::Run> next() { return source_.next(); }
  [[nodiscard]] std::uint64_t bytes_done() const { return source_.bytes_done(); }
  [[nodiscard]] flow::DecodeSummary summary() const { return source_.summary(); }

private:
  static std::unique_ptr<flow::DecodeContext>
  make_context(const LoadedRecording& loaded, flow::Detail detail, std::uint32_t numbering) {
    return std::make_unique<flow::DecodeContext>(loaded.recording, *loaded.spaces, *loaded.schedule,
                                                 detail, loaded.pid, numbering);
  }

  std::unique_ptr<flow::DecodeContext> context_;
  flow::BranchSource source_;
};

struct Thread {
  std::unique_ptr<stacks::ThreadCalls> calls;
  flow::CodeTime code_time;
  std::vector<std::uint64_t> exec_times;
  std::size_t next_exec = 0;
};

class Threads {
public:
  // `sink_of` gives what takes the calls of the thread of an index.
  using SinkOf = std::function<stacks::CallSink&(std::uint32_t)>;

  Threads(const LoadedRecording& loaded, measure::Measurement& measurement,
          stacks::Resolver& resolver, InlinedPlaces* inlined, SinkOf sink_of)
      : loaded_(&loaded), measurement_(&measurement), resolver_(&resolver), inlined_(inlined),
        sink_of_(std::move(sink_of)), untraced_(loaded.recording) {}

  Thread& of(const flow::Run& run) {
    const auto [entry, added] = index_.try_emplace(run.tid, threads_.size());
    if (added) {
      measurement_->threads.push_back(loaded_->thread(run.pid, run.tid));
      threads_.emplace_back().calls =
          make_calls(sink_of_(static_cast<std::uint32_t>(entry->second)), run.tid);
      for (const perfdata::ThreadName& name : loaded_->recording.thread_names()) {
        if (name.exec && name.tid == run.tid) {
          threads_.back().exec_times.push_back(name.time_ns);
        }
      }
    }
    measurement_->threads[entry->second].instructions += run.instructions;
    Thread& thread = threads_[entry->second];
    if (!added && !run.branches.empty()) {
      note_untraced(thread, run);
    }
    return thread;
  }

  // Ends all calls; gaps of all threads.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> finish() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      stacks::ThreadInfo& info = measurement_->threads[i];
      stacks::ThreadCalls& calls = *threads_[i].calls;
      const bool seen_to_end = !untraced_.in(info.tid, calls.last_ns(), UINT64_MAX);
      calls.finish(seen_to_end && loaded_->exited(info, calls.first_ns()));
      info.first_ns = calls.first_ns();
      info.last_ns = calls.last_ns();
      info.gaps = calls.gaps().size();
      indistinct_switches_ += calls.indistinct_switches();
      for (const auto& [begin, end] : calls.gaps()) {
        info.lost_ns += end - begin;
        gaps.emplace_back(begin, end);
      }
    }
    return gaps;
  }

  // After finish(): see ThreadCalls.
  [[nodiscard]] std::uint64_t indistinct_switches() const { return indistinct_switches_; }
  [[nodiscard]] const UntracedTime& untraced() const { return untraced_; }

private:
  // Where the thread ran untraced since its last branch, trace is missing.
  void note_untraced(Thread& thread, const flow::Run& run) const {
    const std::uint64_t last = thread.calls->last_ns();
    if (const auto at = untraced_.in(run.tid, last, run.branches.front().time_ns)) {
      const symbols::AddressSpaceVersion& space = loaded_->spaces->at(run.pid, *at);
      thread.calls->add(flow::Branch{.time_ns = *at,
                                     .kind = flow::BranchKind::gap,
                                     .gap = flow::GapReason::truncated},
                        space);
    }
  }

  std::unique_ptr<stacks::ThreadCalls> make_calls(stacks::CallSink& sink, std::int32_t tid) {
    const flow::Schedule& schedule = *loaded_->schedule;
    if (!loaded_->address_filter().empty()) {
      return std::make_unique<stacks::FilteredCalls>(sink, *resolver_, schedule, tid);
    }
    if (inlined_ != nullptr) {
      return std::make_unique<stacks::InlinedCalls>(inlined_->counted(), sink, *resolver_, facts_,
                                                    schedule, tid);
    }
    return std::make_unique<stacks::CallBuilder>(sink, *resolver_, facts_, schedule, tid);
  }

  const LoadedRecording* loaded_;
  measure::Measurement* measurement_;
  stacks::Resolver* resolver_;
  InlinedPlaces* inlined_; // null: inlined code is not asked for
  SinkOf sink_of_;
  UntracedTime untraced_;
  stacks::CodeFacts facts_;
  std::uint64_t indistinct_switches_ = 0;
  std::deque<Thread> threads_;
  std::unordered_map<std::int32_t, std::size_t> index_;
};

// Branches in the same version of the code, at a time.
void feed(Thread& thread, flow::Run& run, const symbols::AddressSpaces& spaces) {
  std::span<flow::Branch> left(run.branches);
  while (!left.empty()) {
    const std::uint64_t begin_ns = thread.code_time.of(left.front());
    const symbols::AddressSpaceVersion& space = spaces.at(run.pid, begin_ns);
    while (thread.next_exec < thread.exec_times.size() &&
           thread.exec_times[thread.next_exec] <= begin_ns) {
      const std::uint64_t exec_ns = thread.exec_times[thread.next_exec++];
      // The exec that started the program comes before its first branch.
      if (thread.calls->first_ns() != 0 && exec_ns > thread.calls->first_ns()) {
        thread.calls->exec(std::min(exec_ns, left.front().time_ns));
      }
    }
    const std::uint64_t until_ns =
        thread.next_exec < thread.exec_times.size()
            ? std::min(space.until_ns, thread.exec_times[thread.next_exec])
            : space.until_ns;
    std::size_t count = 1;
    while (count != left.size() && thread.code_time.of(left[count]) < until_ns) {
      ++count;
    }
    const std::span<flow::Branch> here = left.first(count);
    if (space.serial != run.code) {
      for (flow::Branch& branch : here) { // bears the numbers of other code
        branch.exit = 0;
        branch.arrival = 0;
      }
    }
    thread.calls->add_all(here, space);
    left = left.subspan(count);
  }
}

// "function+0x12" for what a branch goes to.
class Namer {
public:
  Namer(const symbols::AddressSpaces& spaces, stacks::Resolver& resolver)
      : spaces_(&spaces), resolver_(&resolver) {}

  // Sets symbol and kind; false when the branch is left out.
  bool name(const flow::Run& run, const flow::Branch& branch, bool calls_only) {
    const auto& space = spaces_->at(run.pid, code_times_[run.tid].of(branch));
    const std::uint64_t address = branch.to != 0 ? branch.to : branch.from;
    const stacks::Place to = resolver_->resolve(space, address);
    kind = flow::word(branch.kind);
    if (calls_only &&
        (branch.kind == flow::BranchKind::jump || branch.kind == flow::BranchKind::cond ||
         branch.kind == flow::BranchKind::indirect)) {
      const stacks::Place from = resolver_->resolve(space, branch.from);
      if (!to.entry || to.function == from.function || from.folded) {
        return false;
      }
      kind = "tail";
    }
    symbol = resolver_->functions()[to.function].name;
    if (to.known && !to.entry) {
      const symbols::MappedCode* mapped = space.find(address);
      const std::uint64_t entry = resolver_->functions()[to.function].address + mapped->bias;
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
  stacks::Resolver* resolver_;
  std::unordered_map<std::int32_t, flow::CodeTime> code_times_; // by tid
};

// `inlined`: the inlined code that is asked for, null for none; `settle` is told when all calls are
// closed.
Result<measure::Measurement>
measure_calls(const LoadedRecording& loaded, InlinedPlaces* inlined, const Threads::SinkOf& sink_of,
              const std::function<void(measure::Measurement&, stacks::Resolver&)>& settle,
              const measure::Watch& watch, const Progress& progress) {
  using Clock = measure::WatchedFunction::Clock;
  stacks::Resolver resolver;
  measure::WatchedFunction watched(watch, resolver.functions(), Clock::now());
  measure::Measurement measurement;
  measurement.recording = describe(loaded);
  measurement.recording.backend = "intel_pt";
  const bool calls_alone = loaded.address_filter().empty() && inlined == nullptr;
  Branches source(loaded, calls_alone ? flow::Detail::calls : flow::Detail::branches);
  Threads threads(loaded, measurement, resolver, inlined,
                  [&](std::uint32_t thread) -> stacks::CallSink& {
                    stacks::CallSink& sink = sink_of(thread);
                    return watch.is_set() ? watched.before(sink) : sink;
                  });
  std::uint64_t reported = 0;
  while (auto run = source.next()) {
    if (progress.cancelled()) {
      return std::unexpected(cancelled());
    }
    resolver.set_numbering(run->numbering);
    feed(threads.of(*run), *run, *loaded.spaces);
    if (watch.is_set()) {
      watched.tell(Clock::now(), source.bytes_done(), loaded.recording.trace_bytes());
    }
    if (source.bytes_done() >= reported + bytes_a_progress_report) {
      reported = source.bytes_done();
      progress.report({"decoding", reported, loaded.recording.trace_bytes(), "bytes"});
    }
  }
  auto gaps = threads.finish();
  settle(measurement, resolver);
  measurement.functions = std::move(resolver.functions());
  measurement.sites = std::move(resolver.sites());
  sum_up(measurement, std::move(gaps));

  const flow::DecodeSummary summary = source.summary();
  measure::RecordingInfo& info = measurement.recording;
  info.decode_errors = summary.decode_errors;
  info.notes.insert(info.notes.end(), summary.warnings.begin(), summary.warnings.end());
  for (const perfdata::AuxTraceError& error : loaded.recording.trace_errors()) {
    info.notes.push_back(fmt::format("perf noted while recording: {}", error.message));
  }
  if (const std::string filter = loaded.address_filter(); !filter.empty()) {
    info.notes.push_back(
        fmt::format("an address filter was on while recording ({}): only that code was traced; of "
                    "what it calls "
                    "elsewhere the duration is known and nothing inside, calls of other functions "
                    "from elsewhere "
                    "are not seen, and a call that ends by a jump out of the range is incomplete",
                    filter));
  }
  if (summary.unowned_bytes != 0) {
    info.notes.push_back(
        fmt::format("{} bytes of trace are left out: the switch records show their "
                    "CPU idle then, so their thread is not certain",
                    summary.unowned_bytes));
  }
  if (const std::string note = threads.untraced().note(); !note.empty()) {
    info.notes.push_back(note);
  }
  if (threads.indistinct_switches() != 0) {
    info.notes.push_back(fmt::format(
        "{} times a coroutine went on where several waited in the same way: the one that "
        "had waited longest was taken, so their calls may have each other's latency",
        threads.indistinct_switches()));
  }
  if (summary.has_time) {
    info.resolution_ns = summary.resolution_ns;
  } else {
    info.notes.emplace_back("the trace has no timing packets: calls are counted, their latency is "
                            "not known; record with tsc, mtc and cyc");
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

Result<measure::Measurement> measure_trace(const LoadedRecording& loaded, store::Writer& writer,
                                           const measure::Watch& watch, const Progress& progress) {
  return measure_calls(
      loaded, nullptr,
      [&](std::uint32_t thread) -> stacks::CallSink& { return writer.thread(thread); },
      [](measure::Measurement&, stacks::Resolver&) {}, watch, progress);
}

Result<measure::InlinedMeasurement>
measure_inlined(const LoadedRecording& loaded, InlinedPlaces& places, const Progress& progress) {
  stacks::CallTableBuilder table;
  auto measurement = measure_calls(
      loaded, &places,
      [&](std::uint32_t thread) -> stacks::CallSink& { return table.thread(thread); },
      [&](measure::Measurement& made, stacks::Resolver& resolver) {
        made.calls = table.take_as_opened();
        places.settle(made.calls, resolver);
        stacks::order(made.calls);
      },
      {}, progress);
  if (!measurement) {
    return std::unexpected(measurement.error());
  }
  measure::InlinedMeasurement inlined = places.take();
  inlined.measurement = std::move(*measurement);
  return inlined;
}

Result<flow::DecodeSummary> decode_trace(const LoadedRecording& loaded, bool calls_only,
                                         const BranchListener& listener, const Progress& progress) {
  Branches source(loaded, calls_only ? flow::Detail::calls : flow::Detail::branches);
  stacks::Resolver resolver;
  Namer namer(*loaded.spaces, resolver);
  while (const auto run = source.next()) {
    if (progress.cancelled()) {
      return std::unexpected(cancelled());
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
