// The file of a call store, version 3. All numbers are little-endian, all offsets count from the
// start of the file, every part begins at a multiple of eight.
//
//   FileHeader | blocks of calls | EdgeEntry[], BlockEntry[], callers' edges[] |
//   DirectoryHeader, key, FunctionEntry[], calls of each thread[], description | LargeEdge[]
//
// An edge is (function of the caller, call site, function). The calls of one edge and one thread
// are kept together in blocks (cache/block.hpp), so that a question about a function reads its
// edges and nothing else; edges are ordered by function, caller, site, the blocks of an edge by
// thread and by number of opening. The sums of a function are kept beside, so that the table of all
// functions reads no block at all. The entries of edges and blocks are many: each edge has a
// checksum of its own, so that opening a store reads the directory alone, which grows with the
// functions. What reports tell of edges with many calls is kept behind it, so that a function that
// called others millions of times is told of without reading those calls.
#pragma once

#include "stacks/calls/call.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace ptlens::cache {

inline constexpr std::array<char, 8> file_magic = {'P', 'T', 'L', 'C', 'A', 'L', 'L', 'S'};
inline constexpr std::uint32_t format_version = 3;
inline constexpr std::size_t alignment = 8;

struct FileHeader {
  std::array<char, 8> magic = file_magic;
  std::uint32_t version = format_version;
  std::uint32_t unused = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_checksum = 0;
  std::uint64_t large_edges = 0; // behind the directory
  std::uint64_t large_edges_checksum = 0;
  std::uint64_t header_checksum = 0; // of all fields before it
};

struct DirectoryHeader {
  std::uint64_t entries_offset = 0; // of the EdgeEntry[]
  std::uint64_t edges = 0;
  std::uint64_t blocks = 0;
  std::uint64_t callers = 0;     // edges that have a caller
  std::uint64_t first_start = 0; // least start of all calls, ns; UINT64_MAX where there are none
  std::uint64_t key_bytes = 0;
  std::uint64_t functions = 0;
  std::uint64_t threads = 0;
  std::uint64_t description_bytes = 0;
};

struct Edge {
  std::uint32_t function = stacks::no_call;
  std::uint32_t caller = stacks::no_call; // no_call for roots
  std::uint32_t site = stacks::no_site;   // no_site where unknown

  auto operator<=>(const Edge&) const = default;
};

struct EdgeHash {
  std::size_t operator()(const Edge& edge) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15; // Fibonacci hashing
    const std::uint64_t key =
        (std::uint64_t{edge.site} << 32U | edge.function) ^ (std::uint64_t{edge.caller} << 16U);
    return ((key ^ key >> 32U) * golden) >> 20U;
  }
};

struct EdgeEntry {
  Edge edge;
  std::uint32_t blocks = 0;
  std::uint32_t first_block =
      0;                      // those of the first edge come first, then those of the second, ...
  std::uint32_t checksum = 0; // see checksum_of()
};

struct BlockEntry {
  std::uint64_t offset = 0;
  std::uint64_t first_start = 0; // least start of its calls, ns
  std::uint64_t last_end = 0;    // greatest end, ns
  std::uint32_t checksum = 0;    // low half
  std::uint32_t bytes = 0;
  std::uint32_t thread = 0;
  std::uint32_t first_order = 0; // least number of opening
  std::uint16_t calls = 0;
  std::uint16_t extras = 0; // calls with off-CPU time, time outside, or opened late
  std::uint16_t inner = 0;  // calls inside another activation of their function
  std::uint16_t unused = 0;
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

// What the table of functions shows of one of them; see measure::FunctionRow.
struct FunctionSums {
  std::array<std::uint64_t, 3> calls = {}; // by CallState
  Sum complete_latency;
  Sum inclusive; // outermost activations, as the next but one
  Sum self;
  Sum off_cpu;
  std::uint64_t least = UINT64_MAX; // latency of complete calls
  std::uint64_t most = 0;

  void add(const FunctionSums& other);
};

// The edges of a function begin where those of the one before end; so do those that it is the
// caller of, among the callers' edges: the indices of the edges, by caller, ascending.
struct FunctionEntry {
  FunctionSums sums;
  std::uint32_t first_edge = 0;
  std::uint32_t first_called = 0;    // of the callers' edges
  std::uint32_t called_checksum = 0; // of those, low half
  std::uint32_t unused = 0;
};

// Figures of all calls of an edge, ordered by edge: see EdgeTally.
struct LargeEdge {
  std::uint32_t edge = 0; // index
  std::uint32_t unused = 0;
  std::array<std::uint64_t, 3> calls = {}; // by CallState; what follows is of complete ones
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
  std::array<std::uint64_t, 4> latency_ranks = {};
  std::uint64_t uncertainty = 0;
};

// In the flags of a call, above the state in the low two bits.
inline constexpr std::uint8_t state_bits = 3;
inline constexpr std::uint8_t tail_call_bit = 4;
inline constexpr std::uint8_t inner_bit = 8;
inline constexpr std::uint8_t extra_bit = 16;
inline constexpr std::uint8_t late_bit = 32;

static_assert(sizeof(FileHeader) == 72 && sizeof(DirectoryHeader) == 72);
static_assert(sizeof(EdgeEntry) == 24 && sizeof(BlockEntry) == 48 && sizeof(FunctionSums) == 104);
static_assert(sizeof(FunctionEntry) == 120 && sizeof(LargeEdge) == 224);

} // namespace ptlens::cache
