// The frames of one machine stack of a thread, innermost last, and the ways to find one of them by
// an address that control arrives at.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::stacks {

struct Frame {
  std::uint32_t call = no_call;
  std::uint32_t function = no_call;
  std::uint64_t return_address = 0; // 0: not known
  std::uint64_t resume_address = 0; // of signal handling: where the program was interrupted
  // Not seen since a gap: how long it is known to have lived. 0: there is no doubt.
  std::uint64_t lost_ns = 0;
  std::uint32_t stub_site = no_site; // of the jump into a thunk, while it runs in the frame
  bool folded = false;               // all of it so far is a stub
  bool tail = false;                 // shares the return address of the frame below
  bool signal = false;
  bool kernel = false;  // entered from user code: where the kernel, which was traced, began
  bool damaged = false; // start unknown, or a gap inside
};

// A call inside one function, not to its entry: a return address without a call of ours.
struct LocalCall {
  std::size_t depth = 0; // frames on the stack when it was made
  std::uint64_t from = 0;
  std::uint64_t return_address = 0;
};

// Where setjmp or its like returned to: control may come back there.
struct Landmark {
  std::size_t depth = 0;
  std::uint64_t address = 0;
};

// The innermost frame that is no tail call, or the outermost; nullptr where there is none.
[[nodiscard]] inline const Frame* base_of(std::span<const Frame> frames) {
  while (frames.size() > 1 && frames.back().tail) {
    frames = frames.first(frames.size() - 1);
  }
  return frames.empty() ? nullptr : &frames.back();
}
// What is left once that one returns.
[[nodiscard]] inline std::span<const Frame> without_innermost(std::span<const Frame> frames) {
  return frames.first(frames.empty() ? 0
                                     : static_cast<std::size_t>(base_of(frames) - frames.data()));
}

class Stack {
public:
  std::vector<Frame> frames;
  std::vector<LocalCall> local_calls;
  std::vector<Landmark> landmarks;
  std::uint64_t suspended_ns = 0; // since when another stack runs, 0: never left
  std::uint64_t turn = 0;         // ascending number of its last suspension

  [[nodiscard]] bool empty() const { return frames.empty(); }
  [[nodiscard]] std::size_t size() const { return frames.size(); }
  [[nodiscard]] Frame& top() { return frames.back(); }
  // The innermost frame that is no tail call: the one that those above it stand in for.
  [[nodiscard]] const Frame& base() const { return *base_of(frames); }

  // True when the address is that to which the innermost frame returns.
  [[nodiscard]] bool returns_to(std::uint64_t address) const {
    return !frames.empty() && frames.back().return_address == address && address != 0;
  }
  // How many frames there are up to the innermost one with that return address, it included; 0:
  // none has it.
  [[nodiscard]] std::size_t with_return_address(std::uint64_t address) const;
  // The same for the innermost frame of the function that control may come back to: one that has
  // not been left by a tail call. Only the outer `limit` frames are looked at.
  [[nodiscard]] std::size_t with_function(std::uint32_t function,
                                          std::size_t limit = SIZE_MAX) const;
  // The same for the innermost frame of a signal that interrupted the program at the address.
  [[nodiscard]] std::size_t with_interruption(std::uint64_t address) const;
  // Frames that remain when control comes back to a landmark; 0: none is at the address.
  [[nodiscard]] std::size_t with_landmark(std::uint64_t address) const;

  void mark(std::uint64_t address);
  // The innermost frame has gone: so have its local calls and landmarks.
  void forget_above();
};

} // namespace ptlens::stacks
