// Executions of inlined code, as rows in the table of calls. A place is the code of one inlined
// call. An execution begins when control comes to the entry of its place from outside the place, by
// a branch or by falling through. It ends when control leaves the place by anything but a call; an
// exception unwinds it. Calls from it become its children.
//
// Straight code runs between two taken branches. Instructions of other code that the compiler put
// between the instructions of a place do not end an execution if control is back before the next
// taken branch. Where control comes into a place neither at its entry nor back from a call, the
// compiler has mixed the place with its surroundings or made copies of it. Executions cannot be
// distinguished then, and the place is not countable.
//
// Time: events in straight code happened at some time between the branches around them, and get the
// middle of that interval.
#pragma once

#include "flow/branches/branch.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "stacks/threads/call_builder.hpp"
#include "stacks/threads/open_calls.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ptlens::stacks {

struct CountedPlace {                      // ELF virtual addresses
  const symbols::Binary* binary = nullptr; // must outlive its users
  FunctionId function = FunctionId::none;  // that was inlined
  SiteId site = SiteId::none;
  std::uint64_t entry = 0;
  std::vector<symbols::AddressRange> ranges;
  std::vector<symbols::AddressRange> home; // the whole function that holds the place
  std::uint32_t depth = 0;                 // inlined functions around it
};

// The requested places, for all threads of a recording.
class CountedPlaces {
public:
  explicit CountedPlaces(std::vector<CountedPlace> places);

  struct Segment { // process addresses [low, high) with the same places
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t bias = 0;
    std::vector<std::uint32_t> places; // outermost first
  };

  // Returns the segments in order, without overlaps.
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

// Rebuilds the calls of one thread, and the executions in them.
class InlinedCalls final : public CallBuilder, private OpenCalls::Listener {
public:
  // See CallBuilder; `places` must outlive the object.
  InlinedCalls(CountedPlaces& places, CallSink& sink, Symbolizer& symbolizer, CodeFacts& facts,
               const perfdata::ContextSwitches& context_switches, std::int32_t tid)
      : CallBuilder(sink, symbolizer, facts, context_switches, tid), places_(&places) {
    calls().set_listener(this);
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

  struct EstimatedTime { // ns; the true time is in [earliest, latest], `at` is shown
    std::uint64_t earliest = 0;
    std::uint64_t latest = 0;
    std::uint64_t at = 0;
    [[nodiscard]] std::uint32_t uncertainty() const;
  };
  struct Execution {
    std::uint32_t place = 0;
    OpenCallId row{};
    std::uint64_t bias = 0; // of the binary
    std::uint64_t gaps = 0; // of the thread, before it began
    bool damaged = false;   // its start is not known
    bool left = false;      // control fell out of its ranges in this stretch of straight code
  };
  struct Frame {              // a call with executions in it, or with an unknown past
    std::uint64_t resume = 0; // where control comes back to, 0: control is in the frame
    bool local = false;       // in a subroutine inside the function
    bool observed = false;    // since the last of `gaps`
    std::uint64_t gaps = 0;
    std::vector<Execution> open; // innermost last
  };

  static bool goes_on(const flow::Branch& branch);
  static EstimatedTime time_of(const flow::Branch& branch);
  static EstimatedTime between(const EstimatedTime& one, const EstimatedTime& other);

  [[nodiscard]] Frame* find(OpenCallId call);
  [[nodiscard]] bool has_unknown_past(OpenCallId call);
  void run(OpenCallId call, std::uint64_t begin, std::uint64_t end, const EstimatedTime& time);
  void cross(OpenCallId call, std::uint64_t address, const Segment* segment,
             const EstimatedTime& time);
  void arrive(OpenCallId from, OpenCallId call, const flow::Branch& branch,
              const EstimatedTime& time);
  bool leave_or_stay(OpenCallId call, Frame& frame, std::uint64_t address, const Segment* segment,
                     bool same_frame, CallState state, const EstimatedTime& time);
  void note_departure(OpenCallId from, OpenCallId to, const flow::Branch& branch);
  void begin(OpenCallId call, std::uint32_t place, std::uint64_t bias, bool damaged,
             const EstimatedTime& time);
  void end(const Execution& execution, CallState state, const EstimatedTime& time);
  void closing(OpenCallId call, std::uint64_t end_ns, CallState state) override;
  void nest(OpenCallId call, const Frame& frame);

  CountedPlaces* places_;
  std::unordered_map<OpenCallId, Frame> frames_;
  const std::vector<Segment>* segments_ = nullptr;
  std::uint64_t space_serial_ = UINT64_MAX;
  std::uint64_t position_ = 0; // where straight code began, 0: unknown
  flow::Branch last_branch_;
  EstimatedTime last_;                      // of the last branch
  EstimatedTime now_;                       // of the branch at hand
  OpenCallId left_in_ = OpenCallId::none;   // the call that control was in after the last branch
  OpenCallId returning_ = OpenCallId::none; // the branch at hand returns from this call
  bool returned_ = false;                   // the branch has closed that call
  bool completed_ = false;                  // and the call is complete
  std::uint64_t gaps_ = 0;
  std::uint32_t opened_at_gap_ = 0; // calls of a lower order began before the last gap
};

// Returns, for each row of the table, 1 where it is an execution of a place that is not countable.
[[nodiscard]] std::vector<std::uint8_t> uncountable_executions(const CallTable& table,
                                                               const CountedPlaces& places);

} // namespace ptlens::stacks
