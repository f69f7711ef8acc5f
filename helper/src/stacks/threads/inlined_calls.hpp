// Executions of inlined code, as rows in the table of calls. One begins when control comes to the
// entry of its place from outside the place, by a branch or by falling through, and ends when
// control leaves the place by anything but a call; an exception unwinds it. What is called from it
// becomes its child.
//
// Between two taken branches runs straight code: instructions of others that the compiler put
// between those of a place do not end it when control is back before the next taken branch. When
// control comes into a place by a way that is neither its entry nor back from a call, the
// compiler has mixed the place with its surroundings or made copies of it: executions cannot be
// told apart then, and the place counts as not countable.
//
// Time: what happens in straight code happened at some moment between those of the branches around
// it, and is given the middle of that interval.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/context_switches.hpp"
#include "stacks/calls/open_calls.hpp"
#include "stacks/threads/call_builder.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ptlens::stacks {

struct CountedPlace {                      // ELF virtual addresses
  const symbols::Binary* binary = nullptr; // must outlive its users
  std::uint32_t function = no_call;        // that was inlined, index into functions
  std::uint32_t site = no_site;            // index into sites
  std::uint64_t entry = 0;
  std::vector<symbols::AddressRange> ranges;
  std::vector<symbols::AddressRange> home; // the whole function that holds the place
  std::uint32_t depth = 0;                 // inlined functions around it
};

// The places asked about, for all threads of a recording.
class CountedPlaces {
public:
  explicit CountedPlaces(std::vector<CountedPlace> places);

  struct Segment { // process addresses [low, high) with the same places
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t bias = 0;
    std::vector<std::uint32_t> places; // outermost first
  };

  // Ordered, without overlaps.
  [[nodiscard]] const std::vector<Segment>& in(const symbols::AddressSpaceVersion& space);

  [[nodiscard]] const std::vector<CountedPlace>& places() const { return places_; }
  [[nodiscard]] bool countable(std::uint32_t place) const { return countable_[place] != 0; }
  void set_not_countable(std::uint32_t place) { countable_[place] = 0; }

private:
  void add_segments(const symbols::MappedCode& code, std::vector<Segment>& segments);

  std::vector<CountedPlace> places_;
  std::vector<std::uint8_t> countable_;
  std::unordered_map<std::uint64_t, std::vector<Segment>> by_space_; // by serial
};

// One thread's calls, and the executions in them.
class InlinedCalls final : public CallBuilder, private OpenCalls::Listener {
public:
  // As CallBuilder's; `places` must outlive the object.
  InlinedCalls(CountedPlaces& places, CallSink& sink, Symbolizer& symbolizer, CodeFacts& facts,
               const flow::ContextSwitches& context_switches, std::int32_t tid)
      : CallBuilder(sink, symbolizer, facts, context_switches, tid), places_(&places) {
    log().set_listener(this);
  }

  void add_all(std::span<const flow::Branch> branches,
               const symbols::AddressSpaceVersion& space) override {
    ThreadCalls::add_all(branches, space); // NOLINT(bugprone-parent-virtual-call): one by one
  }
  void exec(std::uint64_t time_ns) override;
  void finish(bool exited) override;

protected:
  void take(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) override;

private:
  using Segment = CountedPlaces::Segment;

  struct Moment { // ns; somewhere in [low, high], `at` is shown
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t at = 0;
    [[nodiscard]] std::uint32_t spread() const;
  };
  struct Execution {
    std::uint32_t place = 0;
    std::uint32_t row = 0;  // open in the log
    std::uint64_t bias = 0; // of the binary
    std::uint64_t gaps = 0; // of the thread, when it began
    bool damaged = false;   // its start is not known
    bool left = false;      // control fell out of its ranges in this stretch of straight code
  };
  struct Frame {              // a call with executions in it, or one whose past is not known
    std::uint64_t resume = 0; // where control comes back to, 0: it is in the frame
    bool local = false;       // in a subroutine inside the function
    bool observed = false;    // since `gaps`, whose last one took what was known
    std::uint64_t gaps = 0;
    std::vector<Execution> open; // innermost last
  };

  static bool goes_on(const flow::Branch& branch);
  static Moment moment_of(const flow::Branch& branch);
  static Moment between(const Moment& one, const Moment& other);

  [[nodiscard]] Frame* find(std::uint32_t call);
  [[nodiscard]] bool has_unknown_past(std::uint32_t call);
  void run(std::uint32_t call, std::uint64_t begin, std::uint64_t end, const Moment& moment);
  void cross(std::uint32_t call, std::uint64_t address, const Segment* segment,
             const Moment& moment);
  void arrive(std::uint32_t from, std::uint32_t call, const flow::Branch& branch,
              const Moment& moment);
  bool leave_or_stay(std::uint32_t call, Frame& frame, std::uint64_t address,
                     const Segment* segment, bool same_frame, CallState state,
                     const Moment& moment);
  void note_departure(std::uint32_t from, std::uint32_t to, const flow::Branch& branch);
  void begin(std::uint32_t call, std::uint32_t place, std::uint64_t bias, bool damaged,
             const Moment& moment);
  void end(const Execution& execution, CallState state, const Moment& moment);
  void closing(std::uint32_t call, std::uint64_t end_ns, CallState state) override;
  void nest(std::uint32_t call, const Frame& frame);

  CountedPlaces* places_;
  std::unordered_map<std::uint32_t, Frame> frames_;
  const std::vector<Segment>* segments_ = nullptr;
  std::uint64_t space_serial_ = UINT64_MAX;
  std::uint64_t position_ = 0; // where straight code began, 0: not known
  flow::Branch last_branch_;
  Moment last_;                       // of the last branch
  Moment now_;                        // of the branch at hand
  std::uint32_t left_in_ = no_call;   // the call that control was in after the last branch
  std::uint32_t returning_ = no_call; // the branch at hand returns from this call
  bool returned_ = false;             // which has been closed by it,
  bool completed_ = false;            // as complete
  std::uint64_t gaps_ = 0;
  std::uint32_t opened_at_gap_ = 0; // calls of a lower order began before the last gap
};

// 1 for the rows of the table that are executions of places that are not countable.
[[nodiscard]] std::vector<std::uint8_t> uncountable_executions(const CallTable& table,
                                                               const CountedPlaces& places);

} // namespace ptlens::stacks
