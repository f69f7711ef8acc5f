// The truth of a made-up recording in memory, and the same recording as our own pipeline sees it.
#pragma once

#include "support/measured_calls.hpp"
#include "synth/synth.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::ptsim::synth::testing {

// A call, from either side.
struct SeenCall {
  std::string_view binary;
  std::uint64_t address = 0; // ELF, of the function
  std::uint64_t site = 0;    // ELF, of the call instruction; 0: none
  stacks::CallState state = stacks::CallState::complete;
  bool tail_call = false;
  // ns
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t uncertainty = 0;
  std::uint64_t off_cpu = 0;

  [[nodiscard]] bool same_call(const SeenCall& other) const {
    return binary == other.binary && address == other.address && site == other.site &&
           state == other.state && tail_call == other.tail_call;
  }
};

using Place = std::pair<std::string_view, std::uint64_t>; // binary, ELF address

struct ThreadView {
  std::vector<SeenCall> calls;           // whose begin by a call or jump was seen, by start
  std::map<Place, std::size_t> handlers; // of signals, complete
  std::map<Place, std::size_t> unseen;   // calls whose begin was not seen
};
using View = std::map<std::int32_t, ThreadView>; // by tid

// Collects into `view`, which outlives it. Names are those of the process's graph.
std::unique_ptr<CallSink> collect(View& view, const Process& process, const Clock& clock);

// Names are those of the measurement.
View view_of(const measure::test::MeasuredCalls& measurement);

// What is different, in words; empty where nothing is.
std::string difference(const View& truth, const View& ours);

} // namespace ptlens::ptsim::synth::testing
