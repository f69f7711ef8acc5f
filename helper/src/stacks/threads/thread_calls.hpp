// The interface of what turns the branches of one thread into calls: CallBuilder for a whole trace,
// FilteredCalls for a trace that was recorded with an address filter.
#pragma once

#include "base/interface.hpp"
#include "flow/branches/branch.hpp"
#include "stacks/calls/call.hpp"
#include "stacks/pairing/paired_calls.hpp"
#include "symbols/address_space.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::stacks {

class ThreadCalls : public Interface {
public:
  // Takes the next branch; `space` is the code of the process at that time.
  virtual void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) = 0;
  // Takes several branches in order of time.
  virtual void add_all(std::span<const flow::Branch> branches,
                       const symbols::AddressSpaceVersion& space) {
    for (const flow::Branch& branch : branches) {
      add(branch, space);
    }
  }
  // Takes a group of paired calls after the branches so far. Their ids refer to the points, and
  // their numbers to the space.
  virtual void add_paired(const PairedGroup& paired, const flow::CodePoints& points,
                          const symbols::AddressSpaceVersion& space) {
    std::vector<flow::Branch> branches;
    append_branches(paired, points, branches);
    add_all(branches, space);
  }
  // The process image was replaced: no open call returns.
  virtual void exec(std::uint64_t time_ns) = 0;
  // Ends the trace; `exited`: the thread ended.
  virtual void finish(bool exited) = 0;

  // Returns the gaps, in order.
  [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }
  // Returns the functions in whose own time gaps are: what ran meanwhile is not known.
  [[nodiscard]] const std::set<FunctionId>& lost_inside() const { return lost_inside_; }
  [[nodiscard]] std::uint64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }
  // Returns the number of switches to one of several suspended stacks that nothing distinguished:
  // the stack left longest ago was taken. The times of single calls on these stacks may be
  // exchanged; their sum is right.
  [[nodiscard]] std::uint64_t indistinct_switches() const { return indistinct_switches_; }

  // Returns how often the thread went on with another goroutine of Go.
  [[nodiscard]] std::uint64_t goroutine_switches() const { return goroutine_switches_; }

protected:
  std::vector<Gap> gaps_;
  std::set<FunctionId> lost_inside_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t indistinct_switches_ = 0;
  std::uint64_t goroutine_switches_ = 0;
};

} // namespace ptlens::stacks
