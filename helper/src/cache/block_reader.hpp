// The calls of a block of the store that are asked about: those columns that are asked for, into
// buffers that are used again.
#pragma once

#include "cache/call_cache.hpp"
#include "cache/order_set.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

// Which of the calls are asked about; refers to all for as long as it lives.
struct Admitted {
  const OrderSet* calls = nullptr;   // only these; null: any
  const OrderSet* made_in = nullptr; // only calls made in one of these; null: any

  [[nodiscard]] bool admits_all() const { return calls == nullptr && made_in == nullptr; }
};

// A call that was switched out, or was outside user code.
struct AwayCall {
  std::uint32_t at = 0; // of the complete calls
  std::uint32_t switches = 0;
  std::uint64_t latency = 0;
  std::uint64_t outside = 0;
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;

  [[nodiscard]] bool was_off_cpu() const { return switches != 0 || blocked + preempted != 0; }
  [[nodiscard]] std::uint64_t on_cpu() const {
    const std::uint64_t off = blocked + preempted;
    return latency > off ? latency - off : 0;
  }
};

class BlockReader {
public:
  enum class Columns : std::uint8_t {
    ranked,  // latencies and uncertainties
    figures, // those, children, and the calls that were away
    timed,   // latencies, the calls that were away, starts, and which are inside another one
  };

  BlockReader(const CallCache& store, Admitted admitted) : store_(store), admitted_(admitted) {}

  // False where there is nothing to be had: the block is damaged, or no call is admitted.
  [[nodiscard]] bool read(const BlockEntry& entry, Columns columns);

  // Of the block that was read; calls by state, then columns of the complete ones.
  [[nodiscard]] const std::array<std::uint64_t, 3>& states() const { return states_; }
  [[nodiscard]] std::span<const std::uint64_t> latencies() const { return latencies_; }
  [[nodiscard]] std::span<const std::uint64_t> uncertainties() const { return uncertainties_; }
  [[nodiscard]] std::span<const std::uint64_t> children() const { return children_; }
  [[nodiscard]] std::span<const std::uint64_t> starts() const { return starts_; }
  // Not 0: inside another call of the function, whichever that is.
  [[nodiscard]] std::span<const std::uint8_t> inner() const { return inner_; }
  [[nodiscard]] std::span<const AwayCall> away() const { return away_; }

private:
  void find_admitted(const BlockEntry& entry);
  void read_away(const BlockEntry& entry, const Block& block);
  template <class T>
  void keep_complete(std::vector<T>& column);

  const CallCache& store_;
  Admitted admitted_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint8_t> taken_; // complete and admitted; empty: all of the block
  std::vector<std::uint32_t> block_orders_;
  std::vector<std::uint32_t> block_parents_;
  std::vector<std::uint64_t> block_latencies_;
  std::array<std::uint64_t, 3> states_{};
  std::vector<std::uint64_t> latencies_;
  std::vector<std::uint64_t> uncertainties_;
  std::vector<std::uint64_t> children_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint8_t> inner_;
  std::vector<AwayCall> away_;
};

} // namespace ptlens::cache
