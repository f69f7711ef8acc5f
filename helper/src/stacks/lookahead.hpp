// Which of several suspended stacks control has come back to, when all of them wait for the same
// address, as they do where a program switches stacks in one function only: what happens next
// tells. The branches that follow are held back until a return leaves the frames that the
// candidates have in common.
#pragma once

#include "flow/branch.hpp"
#include "symbols/address_space.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ptlens::stacks {

class Lookahead {
public:
  struct Candidate {
    std::size_t stack = 0;
    std::vector<std::uint64_t> returns; // addresses that its frames return to, innermost first
  };
  using Held = std::pair<flow::Branch, const symbols::AddressSpaceVersion*>;

  // `arrival`: the branch to the address that all candidates wait for. The candidate to take where
  // nothing tells them apart comes first.
  Lookahead(const flow::Branch& arrival, std::vector<Candidate> candidates)
      : arrival_(arrival), candidates_(std::move(candidates)) {}

  // Holds the branch; its space must outlive this. False when no more is to be held.
  bool hold(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);

  [[nodiscard]] const flow::Branch& arrival() const { return arrival_; }
  [[nodiscard]] std::size_t stack() const { return candidates_.front().stack; }
  // No other candidate can be the one.
  [[nodiscard]] bool is_certain() const { return candidates_.size() == 1; }
  [[nodiscard]] std::vector<Held> take_held() { return std::move(held_); }

private:
  bool leave(std::uint64_t address);

  flow::Branch arrival_;
  std::vector<Candidate> candidates_;
  std::vector<Held> held_;
  std::vector<std::uint64_t> nested_; // return addresses of calls made since
  std::size_t left_ = 0;              // frames of the candidates that were left
};

} // namespace ptlens::stacks
