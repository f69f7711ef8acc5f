// Turns the probe hits of one thread into calls, for the uprobe backend. The stack pointer at each
// hit determines which frames are still open: a frame whose return address was stored below it has
// ended.
#pragma once

#include "perfdata/contents/context_switches.hpp"
#include "stacks/threads/open_calls.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace ptlens::stacks {

struct ProbeHit {
  std::uint64_t time_ns = 0;
  std::uint64_t stack_pointer = 0; // at the first instruction, or at the one that leaves
  FunctionId function = FunctionId::none;
  SiteId site = SiteId::none;       // of the call; of the jump for a tail exit
  std::uint64_t return_address = 0; // entry only
  bool entry = false;
  bool tail_exit = false;                    // leaves by a jump out of the function
  FunctionId tail_target = FunctionId::none; // function that the jump goes to, none where unknown
  bool restart = false;                      // the function begins again, in the same call
  bool returns = false; // entry: the end of the call is seen after its return, by a hit of its own.
                        // Otherwise: this is such a hit
  bool stops = false;   // its probes are removed during the recording: stop_callees()
  bool callee = false;  // counts only inside a call of the function that calls it
  FunctionId caller =
      FunctionId::none;  // entry of a callee: function that contains the return address
  ProbeTime cost = {};   // that the hit takes from the thread
  ProbeTime excess = {}; // entry only: what this hit and the exit's add to the call's own latency
  ProbeTime late = {};   // entry only: added to `excess` where the exit's hit is late
};

class ProbeCalls {
public:
  ProbeCalls(CallSink& sink, const perfdata::ContextSwitches& context_switches, std::int32_t tid)
      : calls_(sink, context_switches, tid), switches_(context_switches.intervals(tid)) {}

  // Takes the next hit in order of time.
  void add(const ProbeHit& hit);
  // The thread lost its CPU at that time, just before its next switch out. `in_hit`: its registers
  // show that a hit may have been handled; without this call, only the times decide.
  void add_switch(std::uint64_t time_ns, bool in_hit) {
    switch_places_.push_back({time_ns, in_hit});
  }
  // The following hits are of another stack, whose first hit has that time. No call is open.
  void begin_stack(std::uint64_t time_ns);
  // Ends the open calls: their stack was left without their returns.
  void unwind(std::uint64_t time_ns);
  // The functions whose hits have `stops` are not measured from here on: their open calls are
  // incomplete, and the calls around them go on.
  void stop_callees(std::uint64_t time_ns);
  // The thread lost time to a hit that says nothing about its calls.
  void spend(const ProbeTime& cost);
  [[nodiscard]] bool any_open() const { return !stack_.empty(); }
  // Closes the open calls; `exited`: the thread ended. More hits may follow after a time without.
  void finish(std::uint64_t end_ns, bool exited);

  // Returns the time that the hits so far took from the thread.
  [[nodiscard]] const ProbeTime& spent() const { return spent_; }
  // Returns the functions that called one whose end was not seen: how long that ran is unknown, and
  // so is the self time of its caller.
  [[nodiscard]] const std::set<FunctionId>& callers_of_unseen() const { return callers_of_unseen_; }

private:
  struct Frame {
    OpenCallId call = OpenCallId::none;
    FunctionId function = FunctionId::none;
    std::uint64_t stack_pointer = 0;
    std::uint64_t return_address = 0;
    bool tail = false;
    bool returns = false;  // see ProbeHit
    bool stops = false;    // the same
    bool restarts = false; // its next entry hit is the same call
    bool left = false;     // by a jump: the call ends with the tail callee
    FunctionId left_to = FunctionId::none;
    SiteId left_site = SiteId::none;
    std::uint64_t left_ns = 0;
    ProbeTime excess = {};
    ProbeTime late = {};
    ProbeTime spent_before = {}; // by the hits of the thread up to the entry
    ProbeTime spent_when_left = {};
  };

  struct SwitchPlace {
    std::uint64_t time_ns = 0;
    bool in_hit = false;
  };

  struct LastHit {
    std::uint64_t time_ns = 0;
    std::uint64_t handled_ns = 0; // how long it was handled, at most
  };

  [[nodiscard]] std::uint64_t preempted_in_hits(const ProbeHit& hit);
  [[nodiscard]] bool may_be_in_hit(const perfdata::OffCpuInterval& out);
  void enter(const ProbeHit& hit);
  void leave(const ProbeHit& hit);
  void pop(std::uint64_t time_ns, CallState state);
  void pop_unseen(std::uint64_t time_ns);
  void drop_last(bool end_seen);
  // Returns true where the entry is the target of the frame's last jump: a tail call.
  [[nodiscard]] static bool follows(const ProbeHit& entry, const Frame& frame);
  // Returns true where the hit is in the activation of the innermost frame.
  [[nodiscard]] bool is_in(const ProbeHit& hit) const;
  void drop_stopped(std::uint64_t time_ns);
  void drop_dead(std::uint64_t stack_pointer, std::uint64_t time_ns);

  OpenCalls calls_;
  std::span<const perfdata::OffCpuInterval> switches_;
  std::size_t next_switch_ = 0;            // the first one that no hit came after
  std::vector<SwitchPlace> switch_places_; // in order of time
  std::size_t next_place_ = 0;             // the first one after the switches so far
  LastHit last_hit_;
  bool late_ = false; // the hit comes long after the thread's previous one
  ProbeTime spent_;   // by all hits so far
  std::set<FunctionId> callers_of_unseen_;
  std::vector<Frame> stack_;
  bool stopped_ = false; // stop_callees()
  bool started_ = false;
  std::uint64_t first_ns_ = 0;
};

} // namespace ptlens::stacks
