// Searches from the innermost frame outwards.
#include "stacks/frames/frames.hpp"

#include <algorithm>

namespace ptlens::stacks {

std::size_t Stack::with_return_address(std::uint64_t address) const {
  for (std::size_t count = frames.size(); count > 0; --count) {
    if (frames[count - 1].return_address == address) {
      return count;
    }
  }
  return 0;
}

std::size_t Stack::with_function(FunctionId function, std::size_t limit) const {
  for (std::size_t count = std::min(frames.size(), limit); count > 0; --count) {
    const bool left = count < frames.size() && frames[count].tail;
    if (frames[count - 1].function == function && !left) {
      return count;
    }
  }
  return 0;
}

std::size_t Stack::with_interruption(std::uint64_t address) const {
  for (std::size_t count = frames.size(); count > 0 && address != 0; --count) {
    if (frames[count - 1].signal && frames[count - 1].resume_address == address) {
      return count;
    }
  }
  return 0;
}

std::size_t Stack::with_landmark(std::uint64_t address) const {
  for (auto landmark = landmarks.rbegin(); landmark != landmarks.rend(); ++landmark) {
    if (landmark->address == address) {
      return landmark->depth;
    }
  }
  return 0;
}

void Stack::mark(std::uint64_t address) {
  for (auto landmark = landmarks.rbegin();
       landmark != landmarks.rend() && landmark->depth == frames.size(); ++landmark) {
    if (landmark->address == address) {
      return;
    }
  }
  landmarks.push_back({frames.size(), address});
}

void Stack::forget_above() {
  while (!local_calls.empty() && local_calls.back().depth > frames.size()) {
    local_calls.pop_back();
  }
  while (!landmarks.empty() && landmarks.back().depth > frames.size()) {
    landmarks.pop_back();
  }
}

} // namespace ptlens::stacks
