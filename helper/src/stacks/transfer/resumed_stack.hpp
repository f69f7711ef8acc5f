// Which of several suspended stacks control has come back to, when all of them wait for the same
// address, as they do where a program switches stacks in one function only: what happens next
// tells. The branches that follow are held back until a return leaves the frames that the
// candidates have in common.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/returned_call.hpp"
#include "stacks/transfer/frames.hpp"
#include "symbols/address_space.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::stacks {

class ResumedStack {
public:
  struct Candidate {
    std::size_t stack = 0;
    std::span<const Frame> frames; // that were not left, in which it would go on
  };
  struct Held { // a branch, or calls that came back
    flow::Branch branch = {};
    const flow::CodePoints* points = nullptr; // of the calls; null for a branch
    flow::ReturnedCalls part = {};
    std::size_t first_call = 0; // of those that are held
    std::size_t calls = 0;
    const symbols::AddressSpaceVersion* space = nullptr;
    std::uint32_t numbering = 0; // of the numbers that they bear
  };

  // `arrival`: the branch to the address that all candidates wait for. The candidate to take where
  // nothing tells them apart comes first. The frames must outlive this.
  ResumedStack(const flow::Branch& arrival, std::vector<Candidate> candidates)
      : arrival_(arrival), candidates_(std::move(candidates)) {}

  // Holds it, with the calls that came back; what it refers to must outlive this. False when no
  // more is to be held.
  bool hold(Held held, std::span<const flow::ReturnedCall> calls);

  [[nodiscard]] const flow::Branch& arrival() const { return arrival_; }
  [[nodiscard]] std::size_t stack() const { return candidates_.front().stack; }
  // No other candidate can be the one.
  [[nodiscard]] bool is_certain() const { return candidates_.size() == 1; }
  [[nodiscard]] std::span<const Held> held() const { return held_; }
  [[nodiscard]] std::span<const flow::ReturnedCall> calls_of(const Held& held) const {
    return std::span(calls_).subspan(held.first_call, held.calls);
  }

private:
  bool follow(const flow::Branch& branch);
  bool leave(std::uint64_t address);

  flow::Branch arrival_;
  std::vector<Candidate> candidates_;
  std::vector<Held> held_;
  std::vector<flow::ReturnedCall> calls_;
  std::size_t calls_and_returns_ = 0; // held
  std::vector<std::uint64_t> nested_; // return addresses of calls made since
};

} // namespace ptlens::stacks
