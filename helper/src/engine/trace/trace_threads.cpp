// Distributes runs of branches to threads.
#include "engine/trace/trace_threads.hpp"

#include <algorithm>
#include <span>

namespace ptlens::engine {

namespace {

constexpr std::uint64_t bytes_per_progress_report = 1U << 20U;

} // namespace

Error decoding_cancelled() {
  return {.kind = Error::Kind::cancelled, .message = "decoding was cancelled"};
}

Branches::Branches(const LoadedRecording& loaded, flow::Detail detail,
                   const flow::MakeConsumer& make_consumer)
    : context_(make_context(loaded, detail, make_consumer, 0)),
      source_(
          loaded.recording, *context_,
          [&loaded, detail, make_consumer](std::uint32_t numbering) {
            return make_context(loaded, detail, make_consumer, numbering);
          },
          options_of(loaded, make_consumer != nullptr)) {}

// What was decoded ahead was given to a consumer of calls.
flow::DecodeOptions Branches::options_of(const LoadedRecording& loaded, bool consumed) {
  flow::DecodeOptions options = loaded.decode;
  options.ahead = consumed ? options.ahead : nullptr;
  return options;
}

std::unique_ptr<flow::DecodeContext> Branches::make_context(const LoadedRecording& loaded,
                                                            flow::Detail detail,
                                                            const flow::MakeConsumer& make_consumer,
                                                            std::uint32_t numbering) {
  return std::make_unique<flow::DecodeContext>(loaded.recording, *loaded.spaces,
                                               *loaded.context_switches, detail, loaded.pid,
                                               numbering, make_consumer);
}

Threads::Threads(const LoadedRecording& loaded, std::vector<stacks::ThreadInfo>& infos, Make make)
    : loaded_(&loaded), infos_(&infos), make_(std::move(make)), untraced_(loaded.recording),
      stopped_(traced_processors(loaded.recording), loaded.recording.aux_writes(),
               loaded.recording.switches()) {}

void Threads::take(flow::Run& run) {
  feed(of(run), run);
}

Threads::Thread& Threads::of(const flow::Run& run) {
  if (!run.empty()) {
    stopped_.go_on(run.cpu, run.first_ns());
  }
  const auto [entry, added] = index_.try_emplace(run.tid, threads_.size());
  if (added) {
    infos_->push_back(loaded_->thread(run.pid, run.tid));
    threads_.emplace_back().calls = make_(static_cast<std::uint32_t>(entry->second), run.tid);
    for (const perfdata::ThreadName& name : loaded_->recording.thread_names()) {
      if (name.exec && name.tid == run.tid) {
        threads_.back().exec_times.push_back(name.time_ns);
      }
    }
  }
  (*infos_)[entry->second].instructions += run.instructions;
  Thread& thread = threads_[entry->second];
  if (!added && !run.empty()) {
    note_untraced(thread, run);
  }
  return thread;
}

std::vector<stacks::Gap> Threads::finish() {
  std::vector<stacks::Gap> gaps;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    stacks::ThreadInfo& info = (*infos_)[i];
    stacks::ThreadCalls& calls = *threads_[i].calls;
    const bool seen_to_end = !untraced_.in(info.tid, calls.last_ns(), UINT64_MAX);
    calls.finish(seen_to_end && loaded_->exited(info, calls.first_ns()));
    info.first_ns = calls.first_ns();
    info.last_ns = calls.last_ns();
    info.gaps = calls.gaps().size();
    info.lost = calls.gaps();
    indistinct_switches_ += calls.indistinct_switches();
    goroutine_switches_ += calls.goroutine_switches();
    lost_inside_.insert(calls.lost_inside().begin(), calls.lost_inside().end());
    for (const auto& [begin, end] : calls.gaps()) {
      info.lost_ns += end - begin;
      gaps.emplace_back(begin, end);
    }
  }
  return gaps;
}

// Adds a gap where the thread ran untraced after its last branch.
void Threads::note_untraced(Thread& thread, const flow::Run& run) const {
  const std::uint64_t last = thread.calls->last_ns();
  const std::uint64_t first = run.first_ns();
  if (const auto at = untraced_.in(run.tid, last, first).or_else([&] {
        return stopped_.in(run.tid, last, first);
      })) {
    const symbols::AddressSpaceVersion& space = loaded_->spaces->at(run.pid, *at);
    thread.calls->add(flow::Branch{.time_ns = *at,
                                   .kind = flow::BranchKind::gap,
                                   .gap = flow::GapReason::truncated},
                      space);
  }
}

// Passes the run on. Its paired calls stay paired where the code did not change during the run.
void Threads::feed(Thread& thread, flow::Run& run) const {
  const stacks::PairedCalls* const paired = stacks::paired_calls(run);
  const auto* const space = paired == nullptr ? nullptr : only_version(thread, run, *paired);
  if (space == nullptr) {
    stacks::list_all_branches(run);
    feed_branches(thread, run);
    return;
  }
  std::span<const flow::Branch> left(run.branches);
  for (const stacks::CallGroup& group : paired->groups) {
    const std::size_t before = group.branches - (run.branches.size() - left.size());
    thread.calls->add_all(left.first(before), *space);
    thread.calls->add_paired(paired->with_calls(group), *run.points, *space);
    left = left.subspan(before);
  }
  thread.calls->add_all(left, *space);
}

// Returns the version of the code during the whole run, if the run uses its numbering; null where
// the code changed, or the thread executed another program meanwhile.
const symbols::AddressSpaceVersion* Threads::only_version(Thread& thread, const flow::Run& run,
                                                          const stacks::PairedCalls& paired) const {
  flow::CodeTime code_time = thread.code_time;
  const std::uint64_t first_ns = run.begins_with_branch()
                                     ? code_time.of(run.branches.front())
                                     : std::max(code_time.known_ns(), run.first_ns());
  std::uint64_t last_ns = first_ns;
  for (const flow::Branch& branch : run.branches) {
    last_ns = std::max(last_ns, code_time.of(branch));
  }
  if (!paired.system_calls.empty()) {
    code_time.note_on(paired.system_calls.back().system_call.on_ns);
    last_ns = std::max(last_ns, code_time.known_ns());
  }
  for (const stacks::CallGroup& group : paired.groups) {
    last_ns = std::max(last_ns, group.last_ns);
  }
  const symbols::AddressSpaceVersion& space = loaded_->spaces->at(run.pid, first_ns);
  const bool execs =
      thread.next_exec < thread.exec_times.size() && thread.exec_times[thread.next_exec] <= last_ns;
  if (space.serial != run.code || last_ns >= space.until_ns || execs) {
    return nullptr;
  }
  thread.code_time = code_time;
  return &space;
}

// Passes on consecutive branches in the same version of the code.
void Threads::feed_branches(Thread& thread, flow::Run& run) const {
  const symbols::AddressSpaces& spaces = *loaded_->spaces;
  std::span<flow::Branch> left(run.branches);
  while (!left.empty()) {
    const std::uint64_t begin_ns = thread.code_time.of(left.front());
    const symbols::AddressSpaceVersion& space = spaces.at(run.pid, begin_ns);
    while (thread.next_exec < thread.exec_times.size() &&
           thread.exec_times[thread.next_exec] <= begin_ns) {
      const std::uint64_t exec_ns = thread.exec_times[thread.next_exec++];
      // The exec that started the program precedes its first branch.
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
      for (flow::Branch& branch : here) { // the ids refer to other code
        branch.from_id = flow::BranchPointId::none;
        branch.to_id = flow::BranchPointId::none;
      }
    }
    thread.calls->add_all(here, space);
    left = left.subspan(count);
  }
}

Result<void> take_all(Branches& source, std::uint64_t trace_bytes, const Progress& progress,
                      const std::function<void(flow::Run&)>& take,
                      const std::function<bool()>& is_done) {
  std::uint64_t reported = 0;
  while (auto run = source.next()) {
    if (progress.cancelled()) {
      return std::unexpected(decoding_cancelled());
    }
    take(*run);
    if (is_done()) {
      return {};
    }
    if (source.bytes_done() >= reported + bytes_per_progress_report) {
      reported = source.bytes_done();
      progress.report({"decoding", reported, trace_bytes, "bytes"});
    }
  }
  return {};
}

} // namespace ptlens::engine
