// A whole `ptsim synth`: reads the binaries, walks, writes the recording and its truth.
#pragma once

#include "base/error.hpp"
#include "synth/call_stack.hpp"
#include "synth/process.hpp"
#include "synth/synth_options.hpp"
#include "trace/clock.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace ptlens::ptsim::synth {

struct Summary {
  std::uint64_t trace_bytes = 0;
  std::uint64_t calls = 0;   // ended
  std::size_t functions = 0; // that can be walked
  double seconds = 0;        // of the walk, without reading the binaries
};

// A sink of the caller's, made when the process is known; null: none.
using MakeSink =
    std::function<std::unique_ptr<CallSink>(const Process& process, const Clock& clock)>;

// Walks the graph, which was read from the options' binaries. Errors: not_found for the filter's
// function, bad_input, failed.
Result<Summary> synthesise(const SynthOptions& options, const CodeGraph& graph,
                           const MakeSink& make_sink = {});

// The same with a graph of its own, and a line about it on stderr.
Result<void> run_synth(const SynthOptions& options);

} // namespace ptlens::ptsim::synth
