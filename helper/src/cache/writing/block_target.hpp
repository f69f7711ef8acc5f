// The interface through which the calls of one thread reach the cache: encoded blocks, and the
// bound of the memory for calls that wait.
#pragma once

#include "base/interface.hpp"
#include "cache/format/block.hpp"
#include "cache/format/format.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ptlens::cache {

// The number of an edge of one thread, by which its blocks refer to it.
enum class ThreadEdge : std::uint32_t { none = UINT32_MAX };

struct MadeBlock {
  ThreadEdge edge{};
  BlockEntry entry; // without its offset
  FunctionSums sums;
};

class BlockTarget : public Interface {
public:
  // Returns a number for the edge. May be called from several threads at once, and more than once
  // for an edge.
  [[nodiscard]] virtual ThreadEdge add_edge(const Edge& edge) = 0;
  // Appends encoded blocks, whose bytes follow each other. May be called from several threads at
  // once.
  virtual void add_blocks(std::span<const MadeBlock> blocks, std::span<const std::byte> bytes) = 0;
  // Notes a function whose calls may be nested in calls that were found late.
  virtual void add_late(std::uint32_t thread, stacks::FunctionId function) = 0;
  // Returns the bytes that the waiting calls of one thread may take.
  [[nodiscard]] virtual std::size_t memory_per_thread() const = 0;
};

} // namespace ptlens::cache
