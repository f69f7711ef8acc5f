// Decides which of several suspended stacks control has come back to, when all of them wait for the
// same address. They do where a program switches stacks in one function only. The branches that
// follow are held back until a return leaves the frames that the candidates have in common.
#pragma once

#include "flow/branches/branch.hpp"
#include "stacks/frames/frames.hpp"
#include "stacks/pairing/paired_calls.hpp"
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
    std::span<const Frame> frames; // that are still open, in which control would continue
  };
  struct Held { // a branch, or a group of paired calls
    flow::Branch branch = {};
    const flow::CodePoints* points = nullptr; // of the calls; null for a branch
    CallGroup group = {};
    std::size_t first_call = 0; // index among all held calls
    std::size_t calls = 0;
    std::size_t first_system_call = 0; // the same
    std::size_t system_calls = 0;
    const symbols::AddressSpaceVersion* space = nullptr;
    std::uint32_t numbering = 0; // of the ids
  };

  // `arrival` is the branch to the address that all candidates wait for. The first candidate is
  // taken where nothing distinguishes them. The frames must outlive the object.
  ResumedStack(const flow::Branch& arrival, std::vector<Candidate> candidates)
      : arrival_(arrival), candidates_(std::move(candidates)) {}

  // Holds a branch, or a group with its calls, whose references must outlive the object. Returns
  // false where nothing more is to be held.
  bool hold(Held held, const PairedGroup& paired);

  [[nodiscard]] const flow::Branch& arrival() const { return arrival_; }
  [[nodiscard]] std::size_t stack() const { return candidates_.front().stack; }
  // Returns true where no other candidate is left.
  [[nodiscard]] bool is_certain() const { return candidates_.size() == 1; }
  [[nodiscard]] std::span<const Held> held() const { return held_; }
  [[nodiscard]] PairedGroup group_of(const Held& held) const {
    return {.group = held.group,
            .calls = std::span(calls_).subspan(held.first_call, held.calls),
            .system_calls =
                std::span(system_calls_).subspan(held.first_system_call, held.system_calls)};
  }

private:
  bool follow(const flow::Branch& branch);
  bool leave(std::uint64_t address);

  flow::Branch arrival_;
  std::vector<Candidate> candidates_;
  std::vector<Held> held_;
  std::vector<PairedCall> calls_;
  std::vector<PairedSystemCall> system_calls_;
  std::size_t calls_and_returns_ = 0; // held
  std::vector<std::uint64_t> nested_; // return addresses of calls made since
};

} // namespace ptlens::stacks
