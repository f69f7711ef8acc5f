// The calls of one thread on their way into a store. Private to it.
#pragma once

#include "stacks/closed_call.hpp"
#include "store/block.hpp"
#include "store/writer.hpp"

#include <cstdint>
#include <tsl/robin_map.h>
#include <unordered_map>
#include <vector>

namespace ptlens::store {

class ThreadWriter final : public stacks::CallSink {
public:
  ThreadWriter(Writer& writer, std::uint32_t thread) : writer_(&writer), thread_(thread) {}

  void take(const stacks::ClosedCall& call) override;
  void flush(); // all that waits
  [[nodiscard]] std::uint32_t thread() const { return thread_; }

private:
  struct Waiting {
    Edge edge;
    std::vector<Row> rows;
    std::vector<Extra> extras;
  };
  struct Hash {
    std::size_t operator()(const Edge& edge) const {
      constexpr std::uint64_t golden = 0x9e3779b97f4a7c15; // Fibonacci hashing
      const std::uint64_t key =
          (std::uint64_t{edge.site} << 32U | edge.function) ^ (std::uint64_t{edge.caller} << 16U);
      return ((key ^ key >> 32U) * golden) >> 20U;
    }
  };

  [[nodiscard]] Waiting& waiting(const Edge& edge);
  void add_extra(Waiting& waiting, Row& row, const stacks::ClosedCall& call, std::uint32_t before);
  [[nodiscard]] std::uint32_t note_late(const stacks::ClosedCall& call);
  void grow(Waiting& waiting);
  void write(Waiting& waiting);
  void make_room(std::size_t most);

  Writer* writer_;
  std::uint32_t thread_;
  tsl::robin_map<Edge, std::uint32_t, Hash> numbers_;
  std::vector<Waiting> waiting_;
  std::size_t bytes_ = 0; // of the rows that there is room for
  std::unordered_map<std::uint32_t, std::uint32_t> first_inside_; // by order of a late parent
};

} // namespace ptlens::store
