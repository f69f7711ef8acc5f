// The calls of one walked thread: the walk's own stack, and at the same time the truth. A call that
// ends goes to the sinks with what a perfect observer of the trace can know of it: where trace is
// lost, a call that spans the loss is incomplete, and one that began and ended unseen is lost.
#pragma once

#include "synth/code_graph.hpp"

#include <cstdint>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ptlens::ptsim::synth {

enum class CallState : std::uint8_t { complete, incomplete, unwound, lost };

struct Frame {
  enum class Kind : std::uint8_t {
    root, // began before the trace
    call,
    tail_call,    // by a jump: ends with the frame below
    handler,      // of a signal
    interruption, // no call: what a handler returns to
  };

  std::uint64_t start = 0;          // units of the clocks
  std::uint64_t entered = 0;        // when control was behind the stub, or 0 for a call without one
  std::uint64_t children = 0;       // units that its calls took
  std::uint64_t off_cpu = 0;        // ns that the thread was switched out before the start
  std::uint64_t caller = 0;         // address of the call instruction
  std::uint64_t return_address = 0; // of an interruption: where the program goes on
  FunctionId function = no_function;
  BlockId after = no_block; // that the return address begins, or that was interrupted
  std::uint32_t losses = 0; // of the thread's trace, before the start
  std::uint32_t budget = 0; // decisions before the walk returns as soon as possible
  Kind kind = Kind::call;
  bool seen = true;     // the start is in the trace
  bool observed = true; // the trace shows control inside
};

struct EndedCall {
  pid_t tid = -1;
  const Frame* frame = nullptr;
  CallState state = CallState::complete;
  std::size_t depth = 0;
  std::uint64_t end = 0;        // units
  std::uint64_t off_cpu_ns = 0; // during the call
};

class CallSink {
public:
  CallSink() = default;
  CallSink(const CallSink&) = delete;
  CallSink& operator=(const CallSink&) = delete;
  CallSink(CallSink&&) = delete;
  CallSink& operator=(CallSink&&) = delete;
  virtual ~CallSink() = default;

  virtual void ended(const EndedCall& call) = 0;
  // Trace of the thread is missing in [begin, end), units.
  virtual void lost(pid_t tid, std::uint64_t begin, std::uint64_t end, std::string_view reason) = 0;
};

class CallStack {
public:
  // Sinks are not owned.
  CallStack(pid_t tid, std::vector<CallSink*> sinks) : tid_(tid), sinks_(std::move(sinks)) {}

  [[nodiscard]] bool empty() const { return frames_.empty(); }
  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  [[nodiscard]] Frame& top() { return frames_.back(); }
  [[nodiscard]] const Frame& top() const { return frames_.back(); }
  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }

  // `frame` has kind, function, caller, return address, `after` and budget.
  void open(Frame frame, std::uint64_t now) {
    frame.start = now;
    frame.off_cpu = off_cpu_ns_;
    frame.losses = losses_;
    frame.seen = frame.seen && !lost_;
    frame.observed = frame.observed && frame.seen;
    frames_.push_back(frame);
    if (frame.kind == Frame::Kind::interruption) {
      ++interruptions_;
    }
  }

  // Ends the function on top, which returned, and the calls that it replaced. `end_seen` says
  // whether the trace contains the return.
  void returned(std::uint64_t now, bool end_seen = true);
  // Ends the topmost frames, down to `size` of them, or all.
  void unwind_to(std::size_t size, std::uint64_t now);
  void finish(bool exited, std::uint64_t now);
  // The handler on top has returned: takes the interruption off.
  Frame end_interruption();

  void begin_loss(std::uint64_t now, std::string_view reason);
  void end_loss(std::uint64_t now);
  [[nodiscard]] bool in_loss() const { return lost_; }
  [[nodiscard]] std::uint32_t losses() const { return losses_; } // so far

  void was_off_cpu(std::uint64_t ns) { off_cpu_ns_ += ns; }

  // Calls that ended, whatever their state.
  [[nodiscard]] std::uint64_t ended() const { return ended_; }

private:
  void close(CallState state, std::uint64_t now, bool end_seen);
  [[nodiscard]] CallState seen_state(const Frame& frame, CallState state, bool end_seen) const;

  pid_t tid_;
  std::vector<CallSink*> sinks_;
  std::vector<Frame> frames_;
  std::size_t interruptions_ = 0;
  std::uint64_t off_cpu_ns_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t loss_begin_ = 0;
  std::string_view loss_reason_;
  std::uint32_t losses_ = 0;
  bool lost_ = false;
};

} // namespace ptlens::ptsim::synth
