// What turns the branches of one thread into calls: one way for a whole trace, another for one that
// an address filter cut.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/returned_call.hpp"
#include "symbols/address_space.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::stacks {

class ThreadCalls {
public:
  ThreadCalls() = default;
  ThreadCalls(const ThreadCalls&) = delete;
  ThreadCalls& operator=(const ThreadCalls&) = delete;
  ThreadCalls(ThreadCalls&&) = delete;
  ThreadCalls& operator=(ThreadCalls&&) = delete;
  virtual ~ThreadCalls() = default;

  // Branches in order; `space` is the process's code at that time.
  virtual void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) = 0;
  // The same of several, none of which is earlier than the one before it.
  virtual void add_all(std::span<const flow::Branch> branches,
                       const symbols::AddressSpaceVersion& space) {
    for (const flow::Branch& branch : branches) {
      add(branch, space);
    }
  }
  // Calls that came back behind the branches so far, with numbers of those points and that space.
  virtual void add_returned(const flow::ReturnedCalls& part,
                            std::span<const flow::ReturnedCall> calls,
                            const flow::CodePoints& points,
                            const symbols::AddressSpaceVersion& space) {
    std::vector<flow::Branch> branches;
    flow::unfold(part, calls, points, branches);
    add_all(branches, space);
  }
  // The process image was replaced: nothing returns.
  virtual void exec(std::uint64_t time_ns) = 0;
  // The end of what was traced; `exited`: because the thread ended.
  virtual void finish(bool exited) = 0;

  // Gaps as [begin, end) in ns, in order.
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, std::uint64_t>>& gaps() const {
    return gaps_;
  }
  [[nodiscard]] std::uint64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }
  // Switches to one of several suspended stacks that nothing told apart: the one left longest ago
  // was taken. Times of single calls on them may be exchanged, their sum is not.
  [[nodiscard]] std::uint64_t indistinct_switches() const { return indistinct_switches_; }

protected:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t indistinct_switches_ = 0;
};

} // namespace ptlens::stacks
