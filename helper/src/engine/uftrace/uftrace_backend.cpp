// Each thread's file is read twice: its first records for the cost of a hook, then all of them for
// the calls.
#include "engine/uftrace/uftrace_backend.hpp"

#include "engine/recording/asked_functions.hpp"
#include "engine/uftrace/hook_cost.hpp"
#include "engine/uftrace/hooked_functions.hpp"
#include "perfdata/bytes/mapped_file.hpp"
#include "record/probes/cost/probe_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ptlens::engine {
namespace {

using uftrace::Record;

constexpr std::uint64_t records_for_cost = 500'000; // of each thread
constexpr std::uint64_t records_a_check = 16'384;

// Opens the file of a thread, reads all its records, and passes each to `use` until that returns
// false.
template <class Use>
Result<void> each_record(const uftrace::ThreadFile& thread, const Use& use) {
  const auto file = perfdata::MappedFile::open(thread.path);
  if (!file) {
    return std::unexpected(file.error());
  }
  uftrace::RecordStream stream(file->bytes(), thread.path);
  Record record;
  while (true) {
    const auto more = stream.next(record);
    if (!more) {
      return std::unexpected(more.error());
    }
    if (!*more || !use(record, stream.position())) {
      return {};
    }
  }
}

class HookReader {
public:
  HookReader(const LoadedRecording& loaded, measure::Measurement& measurement,
             cache::Writer& writer, const Progress& progress)
      : loaded_(loaded), measurement_(measurement), writer_(writer), progress_(progress),
        functions_(loaded) {}

  Result<void> run() {
    if (auto done = estimate_cost(); !done) {
      return done;
    }
    for (const uftrace::ThreadFile& thread : loaded_.hooked->threads) {
      if (!thread.path.empty() && (!loaded_.pid || *loaded_.pid == thread.pid)) {
        if (auto done = read_thread(thread); !done) {
          return done;
        }
      }
    }
    add_asked_functions(loaded_, functions_.symbolizer());
    measurement_.functions = std::move(functions_.symbolizer().functions());
    measurement_.sites = std::move(functions_.symbolizer().sites());
    return {};
  }

  [[nodiscard]] const stacks::HookCost& cost() const { return cost_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::uint64_t on_cpu_ns() const { return on_cpu_ns_; }
  [[nodiscard]] const std::set<std::string>& binaries() const { return functions_.binaries(); }

private:
  Result<void> estimate_cost() {
    HookCostEstimate estimate;
    for (const uftrace::ThreadFile& thread : loaded_.hooked->threads) {
      if (thread.path.empty()) {
        continue;
      }
      estimate.begin_thread();
      std::uint64_t read = 0;
      const auto done = each_record(thread, [&](const Record& record, std::uint64_t) {
        estimate.add(record);
        return ++read < records_for_cost && !progress_.cancelled();
      });
      if (!done) {
        return done;
      }
    }
    cost_ = estimate.cost();
    return {};
  }

  Result<void> read_thread(const uftrace::ThreadFile& thread) {
    const auto index = static_cast<std::uint32_t>(measurement_.threads.size());
    measurement_.threads.push_back(loaded_.thread(thread.pid, thread.tid));
    stacks::HookedCalls calls(writer_.thread(index), *loaded_.context_switches, thread.tid, cost_);
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t read = 0;
    const symbols::AddressSpaceVersion* space = nullptr;
    const auto done = each_record(thread, [&](const Record& record, std::uint64_t position) {
      if (++read % records_a_check == 0) {
        progress_.report({"reading", before_ + position, loaded_.hooked->record_bytes(), "bytes"});
      }
      if (record.kind == Record::Kind::lost) {
        calls.add_gap();
        lost_ += record.address;
        return true;
      }
      if (record.kind == Record::Kind::event) {
        return true;
      }
      const std::uint64_t time_ns = std::max(record.time_ns, last_ns);
      first_ns = first_ns == 0 ? time_ns : first_ns;
      if (space == nullptr || time_ns >= space->until_ns || time_ns < space->from_ns) {
        space = &loaded_.spaces->at(thread.pid, time_ns);
      }
      last_ns = time_ns;
      const bool entry = record.kind == Record::Kind::entry;
      const HookedFunction found = functions_.find(*space, record.address);
      calls.add({.time_ns = time_ns,
                 .depth = record.depth,
                 .function = found.function,
                 .entry = entry,
                 .part = found.part,
                 .returns_twice = found.returns_twice,
                 .stub = found.stub});
      calls_ += entry ? 1 : 0;
      return read % records_a_check != 0 || !progress_.cancelled();
    });
    if (!done) {
      return done;
    }
    if (progress_.cancelled()) {
      return std::unexpected(
          Error{.kind = Error::Kind::cancelled, .message = "reading was cancelled"});
    }
    before_ += thread.bytes;
    stacks::ThreadInfo& info = measurement_.threads[index];
    info.first_ns = first_ns;
    info.last_ns = end_of(thread.tid, last_ns);
    calls.finish(info.last_ns, loaded_.exited(info, first_ns));
    info.gaps = calls.gaps();
    info.lost_ns = calls.lost_ns();
    info.lost = calls.lost();
    const std::uint64_t wall = info.last_ns - info.first_ns;
    on_cpu_ns_ +=
        wall -
        std::min(
            wall,
            loaded_.context_switches->off_cpu(thread.tid, info.first_ns, info.last_ns).total_ns());
    return {};
  }

  // Returns when the thread was last seen: by a hook, or by its end.
  std::uint64_t end_of(std::int32_t tid, std::uint64_t last_ns) const {
    for (const perfdata::ThreadExit& exit : loaded_.recording.thread_exits()) {
      if (exit.tid == tid) {
        return std::max(last_ns, exit.time_ns);
      }
    }
    return last_ns;
  }

  const LoadedRecording& loaded_;
  measure::Measurement& measurement_;
  cache::Writer& writer_;
  const Progress& progress_;
  HookedFunctions functions_;
  stacks::HookCost cost_;
  std::uint64_t before_ = 0; // bytes of the threads read so far
  std::uint64_t calls_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t on_cpu_ns_ = 0;
};

// The time of the threads on their CPUs, over that without the time of the hooks.
double slowdown(const HookReader& reader) {
  const auto hooks =
      static_cast<double>(reader.calls()) * static_cast<double>(reader.cost().call());
  const auto all = static_cast<double>(reader.on_cpu_ns());
  return all <= 0 ? 1 : record::slowdown(hooks / all);
}

void add_notes(const LoadedRecording& loaded, const HookReader& reader,
               measure::RecordingInfo& info) {
  const uftrace::Info& recorded = loaded.hooked->info;
  info.notes.push_back(make_note(
      "hooks",
      "recorded with uftrace: a hook at the entry and at the exit of each function takes about {} "
      "ns a call: {} ns are in the latency of the call itself, and the rest is in that of its "
      "callers (estimated from the shortest calls){}",
      reader.cost().call(), reader.cost().inside,
      info.slowdown > 1 ? fmt::format("; the program ran {}", record::times_slower(info.slowdown))
                        : ""));
  info.notes.push_back(make_note(
      "hooked_functions",
      "only functions with a hook are recorded: those of the program itself that uftrace could "
      "patch{}. Call sites are not recorded, and a call that an exception ended counts as "
      "complete: it lasts until the exception was caught",
      recorded.library_calls ? ", and calls from it to libraries" : ""));
  if (reader.lost() != 0) {
    info.notes.push_back(make_note(
        "lost_hooks",
        "uftrace lost {} records: calls are missing, and the calls around them are incomplete; "
        "record less with a filter, or with a larger buffer (uftrace record --buffer)",
        reader.lost()));
  }
  if (info.lost_records != 0) {
    info.notes.push_back(
        make_note("lost_switches",
                  "{} records about context switches were dropped: off-CPU time is "
                  "too low in places",
                  info.lost_records));
  }
  if (recorded.estimated_returns) {
    info.notes.push_back(make_note("estimated_returns",
                                   "the recording was made with --estimate-return: latencies "
                                   "are estimates of uftrace"));
  }
  if (recorded.kernel) {
    info.notes.push_back(make_note("kernel_functions_left_out",
                                   "the kernel functions in the recording are not shown"));
  }
}

} // namespace

Result<measure::Measurement> measure_hooks(const LoadedRecording& loaded, cache::Writer& writer,
                                           const Progress& progress) {
  measure::Measurement measurement;
  HookReader reader(loaded, measurement, writer, progress);
  if (auto done = reader.run(); !done) {
    return std::unexpected(done.error());
  }
  measure::RecordingInfo& info = measurement.recording;
  info = describe(loaded);
  info.backend = "uftrace";
  info.trace_bytes = loaded.hooked->record_bytes();
  info.uncertainty_ns = std::max<std::uint64_t>(1, reader.cost().most_inside());
  if (info.off_cpu_known) {
    info.slowdown = slowdown(reader);
  }
  // Libraries that no hook named need no symbols.
  std::erase_if(info.missing, [&](const measure::MissingCode& code) {
    return !reader.binaries().contains(code.path);
  });
  std::erase_if(info.notes, [](const Note& note) { return note.code == "no_switch_records"; });
  if (!info.off_cpu_known) {
    info.notes.push_back(make_note(
        "no_sched_events", "the recording has no scheduler events, so that off-CPU time is "
                           "unknown: they need kernel.perf_event_paranoid to be 2 or less"));
  }
  add_notes(loaded, reader, info);
  std::vector<stacks::Gap> gaps;
  for (const stacks::ThreadInfo& thread : measurement.threads) {
    gaps.insert(gaps.end(), thread.lost.begin(), thread.lost.end());
  }
  sum_up(measurement, std::move(gaps));
  return measurement;
}

} // namespace ptlens::engine
