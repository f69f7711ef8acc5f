// Numbers pairs of 32-bit values densely, in order of first appearance: open addressing with linear
// probing (Knuth, TAOCP 3, 6.4, algorithm L), which avoids the cache misses of std::unordered_map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ptlens::measure {

template <class First, class Second>
class PairMap {
public:
  using Pair = std::pair<First, Second>;

  // Returns the number of the pair; a new pair gets size().
  std::uint32_t number(First first, Second second) {
    if ((pairs_.size() + 1) * 2 > slots_.size()) {
      grow();
    }
    const Pair pair{first, second};
    Slot& slot = slots_[find(pair)];
    if (slot.taken == 0) {
      pairs_.push_back(pair);
      slot = {.pair = pair, .taken = static_cast<std::uint32_t>(pairs_.size())};
    }
    return slot.taken - 1;
  }

  [[nodiscard]] std::size_t size() const { return pairs_.size(); }
  [[nodiscard]] const Pair& operator[](std::size_t number) const { return pairs_[number]; }

private:
  struct Slot {
    Pair pair;
    std::uint32_t taken = 0; // the pair's number + 1, 0: free
  };

  [[nodiscard]] std::size_t find(const Pair& pair) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15; // 2^64 / golden ratio: Fibonacci hashing
    constexpr unsigned half = 32;
    const std::uint64_t key =
        (static_cast<std::uint64_t>(pair.first) << half) | static_cast<std::uint64_t>(pair.second);
    const std::uint64_t mixed = (key ^ (key >> half)) * golden;
    std::size_t slot = (mixed >> half) & (slots_.size() - 1);
    while (slots_[slot].taken != 0 && slots_[slot].pair != pair) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }

  void grow() {
    constexpr std::size_t smallest = 64;
    slots_.assign(slots_.empty() ? smallest : slots_.size() * 2, Slot{});
    for (std::size_t number = 0; number < pairs_.size(); ++number) {
      slots_[find(pairs_[number])] = {.pair = pairs_[number],
                                      .taken = static_cast<std::uint32_t>(number + 1)};
    }
  }

  std::vector<Slot> slots_; // a power of two
  std::vector<Pair> pairs_;
};

} // namespace ptlens::measure
