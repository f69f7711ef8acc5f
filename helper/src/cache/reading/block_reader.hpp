// Reads the columns of a block that a question needs, of the calls that a filter accepts, into
// buffers that it reuses.
#pragma once

#include "cache/reading/call_cache.hpp"
#include "cache/reading/order_set.hpp"
#include "stacks/calls/call_states.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

// A filter of calls. It refers to the sets, which must outlive it.
struct CallFilter {
  const OrderSet* calls = nullptr;   // accepts only these calls; null: any
  const OrderSet* made_in = nullptr; // accepts only calls made by one of these; null: any
  bool raw = false;                  // latencies with the time of probes
  // Whose figures are read. Unwound calls whose end was not seen have none.
  stacks::CallStates states = {stacks::CallState::complete};

  // Returns whether all complete calls are accepted, and only these.
  [[nodiscard]] bool accepts_all_complete() const {
    return calls == nullptr && made_in == nullptr &&
           states == stacks::CallStates{stacks::CallState::complete};
  }
};

// A call that was switched out, or was outside user code, or that contains hits of probes.
struct AwayCall {
  std::uint32_t at = 0; // index in the columns of accepted calls
  std::uint32_t switches = 0;
  std::uint64_t latency = 0;
  std::uint64_t outside = 0;
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;
  std::uint64_t removed = 0;

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
    figures, // the same, children, and the calls that were away
    nested,  // latencies, marks of nested calls, and the calls that were away
    timed,   // the same, starts, and wall times
  };

  BlockReader(const CallCache& cache, CallFilter filter) : cache_(cache), filter_(filter) {}

  // Returns false where the block is damaged, or no call is accepted.
  [[nodiscard]] bool read(const BlockEntry& entry, Columns columns);

  // The results of read(): the number of calls by state, whatever states the filter accepts; then
  // columns of the accepted calls.
  [[nodiscard]] const std::array<std::uint64_t, 3>& states() const { return states_; }
  [[nodiscard]] std::span<const std::uint64_t> latencies() const { return latencies_; }
  [[nodiscard]] std::span<const std::uint64_t> uncertainties() const { return uncertainties_; }
  [[nodiscard]] std::span<const std::uint64_t> children() const { return children_; }
  [[nodiscard]] std::span<const std::uint64_t> starts() const { return starts_; }
  // The times from start to end.
  [[nodiscard]] std::span<const std::uint64_t> walls() const { return walls_; }
  // Not 0: nested in another call of the function.
  [[nodiscard]] std::span<const std::uint8_t> inner() const { return inner_; }
  [[nodiscard]] std::span<const AwayCall> away() const { return away_; }

private:
  void find_admitted(const BlockEntry& entry);
  void read_away(const BlockEntry& entry, const Block& block);
  template <class T>
  void keep_taken(std::vector<T>& column);

  const CallCache& cache_;
  CallFilter filter_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint8_t> taken_; // 1: accepted; empty: every call of the block
  std::vector<std::uint32_t> block_orders_;
  std::vector<std::uint32_t> block_parents_;
  std::vector<std::uint64_t> block_latencies_;
  std::array<std::uint64_t, 3> states_{};
  std::vector<std::uint64_t> latencies_;
  std::vector<std::uint64_t> uncertainties_;
  std::vector<std::uint64_t> children_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> walls_;
  std::vector<std::uint8_t> inner_;
  std::vector<AwayCall> away_;
};

} // namespace ptlens::cache
