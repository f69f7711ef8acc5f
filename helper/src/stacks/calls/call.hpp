// A call, rebuilt from branches or from probes. Both backends produce calls, and all measurements
// read them.
#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::stacks {

enum class FunctionId : std::uint32_t { none = UINT32_MAX }; // index into functions
enum class SiteId : std::uint32_t { none = UINT32_MAX };     // index into sites
// A call has a number in its thread, in the order of opening. In a CallTable it has an index, and
// while it is open a slot in OpenCalls, which another call gets later.
enum class CallId : std::uint32_t { none = UINT32_MAX };
enum class CallIndex : std::uint32_t { none = UINT32_MAX };
enum class OpenCallId : std::uint32_t { none = UINT32_MAX };

enum class CallState : std::uint8_t {
  complete,   // start and end seen, nothing lost between
  incomplete, // one end missing, or a gap inside; the times are lower bounds
  unwound,    // ended by an exception, longjmp or the end of its thread
};

// A function that occurs in a recording. It is identified by binary and address.
struct FunctionInfo {
  std::string name;
  std::string binary;        // path as recorded; "[unknown]" where nothing is mapped
  std::uint64_t address = 0; // ELF virtual address; the process address where binary is unknown
  std::string file;          // empty without debug information
  std::uint32_t line = 0;
  std::uint32_t end_line = 0;
  // Its own linkage name, then its aliases, with their versions; empty where no symbol is known.
  std::vector<std::string> linkage_names = {};
};

// The instruction that a call was made from.
struct CallSite {
  FunctionId function = FunctionId::none; // that contains it
  std::uint64_t address = 0;              // ELF virtual address in the binary of that function
  std::string file;                       // empty without debug information
  std::uint32_t line = 0;
};

using Functions = IdVector<FunctionId, FunctionInfo>;
using CallSites = IdVector<SiteId, CallSite>;

// [begin, end) in ns of perf's clock: the trace of this time is lost.
using Gap = std::pair<std::uint64_t, std::uint64_t>;

struct ThreadInfo {
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::string comm;
  std::uint64_t first_ns = 0; // of what was traced
  std::uint64_t last_ns = 0;
  std::uint64_t lost_ns = 0; // length of the union of gaps
  std::uint64_t gaps = 0;
  std::uint64_t instructions = 0; // 0 with probes
  std::vector<Gap> lost = {};     // in order of time; the gaps whose ends are known
};

// All calls of a recording, as columns; a call is an index. Ordered by thread, then by start,
// parents before their children where both start at the same time.
struct CallTable {
  std::vector<std::uint32_t> thread; // index into threads
  std::vector<FunctionId> function;
  std::vector<CallIndex> parent;          // the call it was made in, none for a root
  std::vector<SiteId> site;               // none where unknown
  std::vector<std::uint64_t> start;       // ns, perf's clock
  std::vector<std::uint64_t> latency;     // ns, without the time of probes
  std::vector<std::uint32_t> uncertainty; // of the latency, ± ns
  std::vector<std::uint64_t> children;    // ns of latency spent in children
  std::vector<std::uint64_t> outside;   // ns with tracing off: outside user code, off-CPU included
  std::vector<std::uint64_t> blocked;   // ns off-CPU, not runnable
  std::vector<std::uint64_t> preempted; // ns off-CPU, runnable
  std::vector<std::uint64_t> removed;   // ns that probes took inside the call
  std::vector<std::uint32_t> switches;  // switch-outs during the call
  std::vector<CallState> state;
  std::vector<std::uint8_t> tail_call;   // 1: entered by a jump
  std::vector<std::uint8_t> inner;       // 1: inside another activation of the same function
  std::vector<std::uint8_t> end_unknown; // 1: see ClosedCall

  [[nodiscard]] std::size_t size() const { return function.size(); }
  [[nodiscard]] std::uint64_t off_cpu(std::size_t call) const {
    return blocked[call] + preempted[call];
  }
  // Returns the time from start to end, ns.
  [[nodiscard]] std::uint64_t wall(std::size_t call) const { return latency[call] + removed[call]; }
  [[nodiscard]] std::uint64_t self(std::size_t call) const {
    return latency[call] > children[call] ? latency[call] - children[call] : 0;
  }
};

} // namespace ptlens::stacks
