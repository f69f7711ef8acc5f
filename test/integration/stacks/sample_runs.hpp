// The programs of test/samples/stacks, built in several variants, recorded by ptsim and measured.
// The tests of stack building compare the result with the programs' own arithmetic and with ptsim's
// truth.
#pragma once

#include "support/measured_calls.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace ptlens::stacks::testing {

inline constexpr CallState complete = CallState::complete;
inline constexpr CallState incomplete = CallState::incomplete;
inline constexpr CallState unwound = CallState::unwound;

struct Variant {
  std::string compiler;
  std::vector<std::string> flags;
  bool optimised = false; // makes tail calls
  [[nodiscard]] bool is_gcc() const { return compiler.find("clang") == std::string::npos; }
  [[nodiscard]] std::string name() const;
};

// Returns gcc and clang, where installed, without and with optimisation, static and
// position-independent.
[[nodiscard]] std::vector<Variant> all_variants();
// Returns gcc without and with optimisation, and clang with it, for programs with many steps.
[[nodiscard]] std::vector<Variant> few_variants();

struct Sample {
  std::string source; // file in test/samples/stacks
  std::vector<std::string> flags = {};
  std::vector<std::string> libraries = {};                         // after the source
  std::vector<std::string> record = {"--start-at", "main"};        // options of ptsim
  std::vector<std::string> arguments = {};                         // of the program
  std::vector<std::string> environment = {};                       // NAME=value
  std::string event = "cyc,mtc_period=3,psb_period=0,noretcomp=0"; // terms of intel_pt
};

struct TruthCall { // a line of ptsim's truth
  std::uint64_t number = 0;
  std::optional<std::uint64_t> parent;
  std::string symbol;
  std::string binary;
  std::uint64_t address = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t caller = 0;
  std::uint64_t off_cpu = 0;
  std::string state;
  bool tail_call = false;
  bool signal_handler = false;
};

struct SampleRun {
  Variant variant;
  std::string program;
  std::string recording;
  std::string problem;          // empty, or why there is no measurement
  int status = -1;              // of the program
  std::vector<TruthCall> truth; // by start
  std::shared_ptr<const measure::test::MeasuredCalls> measurement;

  // The symbols as nm prints them.
  [[nodiscard]] std::vector<std::string> symbols() const;
  // Returns the names of the functions that have calls.
  [[nodiscard]] std::set<std::string> called() const;
  // Returns the indices of the calls of functions with that name in the source.
  [[nodiscard]] std::vector<std::uint32_t> calls(const std::string& function) const;
  [[nodiscard]] std::string caller(std::uint32_t call) const; // name, "" for a root
  [[nodiscard]] std::uint64_t end(std::uint32_t call) const;  // ns
};

// Returns why no sample can be recorded on this machine; empty where samples can be recorded.
[[nodiscard]] std::string why_no_samples();

// Builds (once for each content, under helper/build), records and measures the sample in each
// variant, in parallel on all processors, and passes each run to `check`.
void for_each_run(const Sample& sample, const std::vector<Variant>& variants,
                  const std::function<void(const SampleRun&)>& check);

// The calls of `callee` from `caller` that the program makes.
struct Edge {
  std::string callee;
  std::string caller;
  CallState state = CallState::complete;
  bool tail_call = false;
  std::size_t count = 0;
};

// Expects that the calls of all these callees are exactly these.
void expect_calls(const SampleRun& run, const std::vector<Edge>& edges);

// Expects that every call of a function of the program, or out of it, is the one that ptsim
// stepped: in the same order, with the same caller and the same state, and with a latency that
// agrees within its uncertainty. (Stripped libraries contain functions without a name: whether a
// jump to one of them is a tail call is not known.)
void expect_truth(const SampleRun& run);

// Expects that self times sum to the traced time of the thread, to the ns, that the outermost
// activations of a function take no longer than that, and that children are within their parents.
void expect_time_adds_up(const SampleRun& run);

} // namespace ptlens::stacks::testing
