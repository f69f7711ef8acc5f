// Distributes all branches of a recording, in order of time, to a receiver for each thread.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "engine/trace/stopped_trace.hpp"
#include "engine/trace/untraced_time.hpp"
#include "flow/code/code_time.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/segments/branch_source.hpp"
#include "stacks/calls/call.hpp"
#include "stacks/pairing/paired_calls.hpp"
#include "stacks/threads/thread_calls.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens::engine {

// Returns the error of cancelled decoding.
[[nodiscard]] Error decoding_cancelled();

class Branches {
public:
  // The recording must outlive the object. `make_consumer`: see DecodeContext.
  Branches(const LoadedRecording& loaded, flow::Detail detail,
           const flow::MakeConsumer& make_consumer = {});

  std::optional<flow::Run> next() { return source_.next(); }
  [[nodiscard]] std::uint64_t bytes_done() const { return source_.bytes_done(); }
  [[nodiscard]] flow::DecodeSummary summary() const { return source_.summary(); }

private:
  static flow::DecodeOptions options_of(const LoadedRecording& loaded, bool consumed);
  static std::unique_ptr<flow::DecodeContext> make_context(const LoadedRecording& loaded,
                                                           flow::Detail detail,
                                                           const flow::MakeConsumer& make_consumer,
                                                           std::uint32_t numbering);

  std::unique_ptr<flow::DecodeContext> context_;
  flow::BranchSource source_;
};

class Threads {
public:
  // Makes the receiver for the branches of the thread with that index and tid.
  using Make = std::function<std::unique_ptr<stacks::ThreadCalls>(std::uint32_t, std::int32_t)>;

  // Adds the threads to `infos` when they first run. The references must outlive the object.
  Threads(const LoadedRecording& loaded, std::vector<stacks::ThreadInfo>& infos, Make make);

  void take(flow::Run& run);

  // Ends all calls, and returns the gaps of all threads.
  std::vector<stacks::Gap> finish();

  // Valid after finish(); see ThreadCalls.
  [[nodiscard]] std::uint64_t indistinct_switches() const { return indistinct_switches_; }
  [[nodiscard]] std::uint64_t goroutine_switches() const { return goroutine_switches_; }
  [[nodiscard]] const std::set<stacks::FunctionId>& lost_inside() const { return lost_inside_; }
  [[nodiscard]] const UntracedTime& untraced() const { return untraced_; }

private:
  struct Thread {
    std::unique_ptr<stacks::ThreadCalls> calls;
    flow::CodeTime code_time;
    std::vector<std::uint64_t> exec_times;
    std::size_t next_exec = 0;
  };

  Thread& of(const flow::Run& run);
  void note_untraced(Thread& thread, const flow::Run& run) const;
  void feed(Thread& thread, flow::Run& run) const;
  [[nodiscard]] const symbols::AddressSpaceVersion*
  only_version(Thread& thread, const flow::Run& run, const stacks::PairedCalls& paired) const;
  void feed_branches(Thread& thread, flow::Run& run) const;

  const LoadedRecording* loaded_;
  std::vector<stacks::ThreadInfo>* infos_;
  Make make_;
  UntracedTime untraced_;
  StoppedTrace stopped_;
  std::uint64_t indistinct_switches_ = 0;
  std::uint64_t goroutine_switches_ = 0;
  std::set<stacks::FunctionId> lost_inside_;
  std::deque<Thread> threads_;
  std::unordered_map<std::int32_t, std::size_t> index_;
};

// Gives all runs to `take` and reports the progress through `trace_bytes`. Ends early once
// `is_done` returns true after a run. Errors: cancelled.
[[nodiscard]] Result<void> take_all(
    Branches& source, std::uint64_t trace_bytes, const Progress& progress,
    const std::function<void(flow::Run&)>& take,
    const std::function<bool()>& is_done = [] { return false; });

} // namespace ptlens::engine
