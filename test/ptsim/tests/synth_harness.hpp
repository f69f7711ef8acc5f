// What the tests of made-up recordings share: the code that is walked, perf's decode of a
// recording, and the branches that the walk wrote down.
#pragma once

#include "synth/code_graph.hpp"
#include "synth/synth_options.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptlens::ptsim::synth::testing {

// A program with symbols, and its libraries.
std::vector<std::string> walked_binaries();
// Read once.
const CodeGraph& walked_graph();

struct Transfer {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool call = false; // else a return

  bool operator==(const Transfer&) const = default;
};
using TransfersByThread = std::map<long, std::vector<Transfer>>;

// perf script --itrace=cr.
TransfersByThread decoded_by_perf(const std::string& recording);
// From a table of branches.
TransfersByThread written_down(const std::string& branches);
// Lines of perf script --itrace=e that name an error, but those with one of the words.
std::vector<std::string> errors_by_perf(const std::string& recording,
                                        const std::vector<std::string>& expected = {});

// Where two lists first differ, in words; empty where they are equal.
std::string difference(const TransfersByThread& one, const TransfersByThread& other);

// `ptsim synth ...` for a test's options, to see a failure again.
std::string command_for(const std::vector<std::string>& arguments);

// Parsed, with the walked binaries.
SynthOptions options_of(const std::vector<std::string>& arguments);

} // namespace ptlens::ptsim::synth::testing
