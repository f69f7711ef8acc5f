// The file of a call cache, version 6. All numbers are little-endian, all offsets count from the
// start of the file, and every section begins at a multiple of eight.
//
//   FileHeader | blocks of calls | StartGroup[] | EdgeEntry[], BlockEntry[], callers' edges[] |
//   DirectoryHeader, key, FunctionEntry[], ThreadEntry[], description | LargeEdge[]
//
// An edge is (function of the caller, call site, function). Blocks (cache/format/block.hpp) contain
// calls of one edge and one thread, so that a question about a function reads only its edges. Edges
// are ordered by function, caller and site, the blocks of an edge by thread and number of opening.
// Blocks contain starts relative to the StartIndex of their thread. The groups of these indexes are
// stored thread by thread.
// The directory contains the sums of each function, so that the table of all functions reads no
// block. There are many entries of edges and blocks: each edge has its own checksum, so that
// opening a cache only reads the directory, whose size depends on the number of functions. The
// figures of edges with many calls come last, so that a report on a function that made millions of
// calls does not read those calls.
#pragma once

#include "stacks/calls/call.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace ptlens::cache {

inline constexpr std::array<char, 8> file_magic = {'P', 'T', 'L', 'C', 'A', 'L', 'L', 'S'};
inline constexpr std::uint32_t format_version = 6;
inline constexpr std::size_t alignment = 8;

struct FileHeader {
  std::array<char, 8> magic = file_magic;
  std::uint32_t version = format_version;
  std::uint32_t unused = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_checksum = 0;
  std::uint64_t large_edges = 0; // after the directory
  std::uint64_t large_edges_checksum = 0;
  std::uint64_t header_checksum = 0; // of all fields before it
};

struct DirectoryHeader {
  std::uint64_t starts_offset = 0;  // of the StartGroup[], which end where the entries begin
  std::uint64_t entries_offset = 0; // of the EdgeEntry[]
  std::uint64_t edges = 0;
  std::uint64_t blocks = 0;
  std::uint64_t callers = 0;     // edges with a caller
  std::uint64_t first_start = 0; // least start of all calls, ns; UINT64_MAX where there are none
  std::uint64_t key_bytes = 0;
  std::uint64_t functions = 0;
  std::uint64_t threads = 0;
  std::uint64_t description_bytes = 0;
};

enum class EdgeId : std::uint32_t { none = UINT32_MAX }; // index of an edge in the file

struct Edge {
  stacks::FunctionId function = stacks::FunctionId::none;
  stacks::FunctionId caller = stacks::FunctionId::none; // none for roots
  stacks::SiteId site = stacks::SiteId::none;           // none where unknown

  auto operator<=>(const Edge&) const = default;
};

struct EdgeHash {
  std::size_t operator()(const Edge& edge) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15; // Fibonacci hashing
    const std::uint64_t key =
        (std::uint64_t{index_of(edge.site)} << 32U | index_of(edge.function)) ^
        (std::uint64_t{index_of(edge.caller)} << 16U);
    return ((key ^ key >> 32U) * golden) >> 20U;
  }
};

struct EdgeEntry {
  Edge edge;
  std::uint32_t blocks = 0;
  std::uint32_t first_block = 0; // the blocks of each edge follow those of the previous edge
  std::uint32_t checksum = 0;    // see checksum_of()
};

struct BlockEntry {
  std::uint64_t offset : 40 = 0;
  std::uint64_t bytes : 23 = 0;
  std::uint64_t has_inner : 1 = 0; // some of its calls are inside another call of their function
  std::uint64_t first_start = 0;   // least start of its calls, ns
  std::uint64_t last_end = 0;      // greatest end, ns
  std::uint32_t checksum = 0;      // low half
  std::uint32_t thread = 0;
  std::uint32_t first_order = 0; // least number of opening
  std::uint16_t calls = 0;
  std::uint16_t extras = 0; // calls with off-CPU time, time outside or of probes, or opened late
};

inline constexpr std::uint64_t most_block_bytes = (std::uint64_t{1} << 23U) - 1;

struct ThreadEntry {
  std::uint32_t calls = 0;
  std::uint32_t start_groups = 0;
  std::uint64_t starts_checksum = 0; // of these
};

// A sum of 64-bit times that cannot overflow.
struct Sum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void add(std::uint64_t value) {
    low += value;
    high += low < value ? 1 : 0;
  }
  void add(const Sum& other) {
    add(other.low);
    high += other.high;
  }
  void subtract(std::uint64_t value) {
    high -= low < value ? 1 : 0;
    low -= value;
  }
};

// The figures of a function in the table of all functions; see measure::FunctionRow.
struct FunctionSums {
  std::array<std::uint64_t, 3> calls = {}; // by CallState
  Sum complete_latency;
  Sum uncertainty; // of the latencies of complete calls
  Sum inclusive;   // of outermost calls, like off_cpu
  Sum self;
  Sum off_cpu;
  std::uint64_t least = UINT64_MAX; // latency of complete calls
  std::uint64_t most = 0;

  void add(const FunctionSums& other);
};

// The edges of a function follow those of the previous function. So do the edges that start at it,
// in the callers' edges: indices of edges by caller, ascending.
struct FunctionEntry {
  FunctionSums sums;
  std::uint32_t first_edge = 0;
  std::uint32_t first_called = 0;    // in the callers' edges
  std::uint32_t called_checksum = 0; // of these edges, low half
  std::uint32_t unused = 0;
};

// The figures of all calls of an edge, ordered by edge: see EdgeTally.
struct LargeEdge {
  EdgeId edge{};
  std::uint32_t unused = 0;
  std::array<std::uint64_t, 3> calls = {}; // by CallState; the other figures are of complete calls
  std::uint64_t least = 0;                 // latency, ns
  std::uint64_t most = 0;
  Sum latency;
  Sum squares;
  std::uint64_t squares_high = 0;
  Sum blocked;
  Sum preempted;
  Sum on_cpu;
  Sum self;
  Sum outside;
  std::uint64_t off_cpu_calls = 0;
  std::uint64_t switches = 0;
  Sum removed;
  Sum uncertainty;
  std::array<std::uint64_t, 4> latency_ranks = {};
  std::array<std::uint64_t, 5> uncertainty_ranks = {};
};

// The flags of a call: the state in the low two bits, and these bits.
inline constexpr std::uint8_t state_bits = 3;
inline constexpr std::uint8_t tail_call_bit = 4;
inline constexpr std::uint8_t inner_bit = 8;
inline constexpr std::uint8_t extra_bit = 16;
inline constexpr std::uint8_t late_bit = 32;
inline constexpr std::uint8_t end_unknown_bit = 64;

// Returns whether a call with these flags has a latency, and not only bounds of it.
[[nodiscard]] constexpr bool has_latency(std::uint8_t flags) {
  return (flags & end_unknown_bit) == 0 || (flags & state_bits) == 0;
}

// Returns the state in the flags, whatever a damaged file contains.
[[nodiscard]] constexpr stacks::CallState state_of(std::uint8_t flags) {
  const std::uint8_t state = flags & state_bits;
  return static_cast<stacks::CallState>(state < state_bits ? state : state - 1);
}

static_assert(sizeof(FileHeader) == 72 && sizeof(DirectoryHeader) == 80);
static_assert(sizeof(EdgeEntry) == 24 && sizeof(BlockEntry) == 40 && sizeof(FunctionSums) == 120);
static_assert(sizeof(FunctionEntry) == 136 && sizeof(LargeEdge) == 288);
static_assert(sizeof(ThreadEntry) == 16);

} // namespace ptlens::cache
