// Which calls of a store a question is about, and the sets that it counts them in.
#pragma once

#include <cstdint>

namespace ptlens::measure {

inline constexpr std::uint32_t no_set = UINT32_MAX;

// The calls of an edge of the store.
struct EdgeCalls {
  std::uint32_t edge = 0;
  std::uint32_t group = 0; // which of the Admitted they are chosen by
  std::uint32_t set = no_set;
  std::uint32_t threads = no_set; // the calls of thread t belong to the set `threads` + t as well
};

} // namespace ptlens::measure
