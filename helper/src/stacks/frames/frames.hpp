// The frames of one machine stack of a thread, innermost last, and searches for the frame that
// control arrives in.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::stacks {

struct Frame {
  OpenCallId call = OpenCallId::none;
  FunctionId function = FunctionId::none;
  std::uint64_t return_address = 0; // 0: not known
  std::uint64_t resume_address = 0; // of signal handling: where the program was interrupted
  // For a frame that was not seen since a gap: the last time at which it is known to have been
  // open. 0: the frame is certain.
  std::uint64_t lost_ns = 0;
  SiteId stub_site = SiteId::none; // of the jump into a thunk that runs in the frame
  bool is_stub = false;            // the frame has been nothing but a stub so far
  bool tail = false;               // shares the return address of the frame below
  bool signal = false;
  bool kernel = false;    // entered from user code: the outermost frame of a traced kernel
  bool damaged = false;   // its start is unknown, or a gap is inside
  bool continued = false; // of a goroutine that continues: its call was counted when it began
};

// A call inside one function, not to its entry: a return address without a call of its own.
struct LocalCall {
  std::size_t depth = 0; // frames on the stack when it was made
  std::uint64_t from = 0;
  std::uint64_t return_address = 0;
};

// The address that setjmp or its like returned to: control may come back there.
struct Landmark {
  std::size_t depth = 0;
  std::uint64_t address = 0;
};

// Returns the innermost frame that is no tail call, or the outermost; nullptr where there is none.
// Tail calls share its return address and end with it.
[[nodiscard]] inline const Frame* base_of(std::span<const Frame> frames) {
  while (frames.size() > 1 && frames.back().tail) {
    frames = frames.first(frames.size() - 1);
  }
  return frames.empty() ? nullptr : &frames.back();
}
// Returns the frames that are left once that frame returns.
[[nodiscard]] inline std::span<const Frame> without_innermost(std::span<const Frame> frames) {
  return frames.first(frames.empty() ? 0
                                     : static_cast<std::size_t>(base_of(frames) - frames.data()));
}

class Stack {
public:
  std::vector<Frame> frames;
  std::vector<LocalCall> local_calls;
  std::vector<Landmark> landmarks;
  std::uint64_t suspended_ns = 0; // when another stack began to run, 0: never
  std::uint64_t turn = 0;         // ascending number of the last suspension

  [[nodiscard]] bool empty() const { return frames.empty(); }
  [[nodiscard]] std::size_t size() const { return frames.size(); }
  [[nodiscard]] Frame& top() { return frames.back(); }
  // Returns the innermost frame that is no tail call.
  [[nodiscard]] const Frame& base() const { return *base_of(frames); }

  // Returns true where the innermost frame returns to the address.
  [[nodiscard]] bool returns_to(std::uint64_t address) const {
    return !frames.empty() && frames.back().return_address == address && address != 0;
  }
  // Returns the number of frames up to and including the innermost one with that return address; 0
  // where no frame has it.
  [[nodiscard]] std::size_t with_return_address(std::uint64_t address) const;
  // The same for the innermost frame of the function that control may come back to, because it has
  // not been left by a tail call. Searches the outer `limit` frames only.
  [[nodiscard]] std::size_t with_function(FunctionId function, std::size_t limit = SIZE_MAX) const;
  // The same for the innermost signal frame that interrupted the program at the address.
  [[nodiscard]] std::size_t with_interruption(std::uint64_t address) const;
  // Returns the number of frames that remain when control comes back to a landmark; 0 where no
  // landmark is at the address.
  [[nodiscard]] std::size_t with_landmark(std::uint64_t address) const;

  // Adds a landmark in the innermost frame.
  void mark(std::uint64_t address);
  // Drops the local calls and landmarks of frames that have ended.
  void forget_above();
};

} // namespace ptlens::stacks
