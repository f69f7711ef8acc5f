// A hash table by address. The low bits of addresses differ least, so that the hash mixes them with
// higher ones: the multiplier is 2^64 over the golden ratio (Knuth, The Art of Computer
// Programming vol. 3, section 6.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <tsl/robin_map.h>

namespace ptlens::flow {

struct AddressHash {
  std::size_t operator()(std::uint64_t address) const {
    const std::uint64_t mixed = address * 0x9e3779b97f4a7c15U;
    return mixed ^ (mixed >> 32U);
  }
};

template <typename Value>
using AddressMap = tsl::robin_map<std::uint64_t, Value, AddressHash>;

} // namespace ptlens::flow
