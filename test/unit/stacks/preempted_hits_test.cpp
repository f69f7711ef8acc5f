// Made-up recordings of a busy machine: a program whose calls take known times, probes whose hits
// take known times, and a scheduler that takes the CPU away at random, in hits too.
#include "stacks/calls/call_table.hpp"
#include "stacks/threads/probe_calls.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace ptlens::stacks {
namespace {

constexpr FunctionId f = 0_fn;
constexpr FunctionId g = 1_fn;

// A hit of an entry takes 60 ± 6 ns, the last 35 of them after its sample; one of an exit takes
// 40 ± 4 ns, the first 15 of them before its sample.
constexpr ProbeTime entry_cost{.ns = 60, .uncertainty_ns = 6};
constexpr ProbeTime exit_cost{.ns = 40, .uncertainty_ns = 4};
constexpr ProbeTime excess{.ns = 50, .uncertainty_ns = 5};

class BusyMachine {
public:
  // Takes the CPU away once in `every` ns of the thread's time on it, in the mean.
  BusyMachine(std::uint32_t seed, double every) : random_(seed), every_(every) { plan(); }

  std::uint64_t enter(FunctionId function, std::uint64_t stack_pointer) {
    const double factor = any_factor();
    handle(25 * factor);
    hits_.push_back({.time_ns = now(),
                     .stack_pointer = stack_pointer,
                     .function = function,
                     .return_address = 0x100,
                     .entry = true,
                     .cost = entry_cost,
                     .excess = excess});
    handle(35 * factor);
    return program_ns_;
  }
  void leave(FunctionId function, std::uint64_t stack_pointer) {
    const double factor = any_factor();
    handle(15 * factor);
    hits_.push_back({.time_ns = now(),
                     .stack_pointer = stack_pointer,
                     .function = function,
                     .cost = exit_cost});
    handle(25 * factor);
  }
  // Runs the program's own code: what is taken away here belongs to its calls.
  void run(double ns) { program_ns_ += spend(ns); }

  [[nodiscard]] std::uint64_t program_ns() const { return program_ns_; }
  [[nodiscard]] CallTable calls() const {
    const perfdata::ContextSwitches switches(switches_);
    CallTableBuilder builder;
    ProbeCalls calls(builder.thread(0), switches, 1);
    for (const ProbeHit& hit : hits_) {
      calls.add(hit);
    }
    calls.finish(now(), false);
    return builder.take();
  }

private:
  void plan() { left_ = std::exponential_distribution(1 / every_)(random_); }
  double any_factor() { return std::uniform_real_distribution(0.9, 1.1)(random_); }
  [[nodiscard]] std::uint64_t now() const { return static_cast<std::uint64_t>(time_); }
  void handle(double ns) { spend(ns); }

  // Returns the time that passed, ns.
  std::uint64_t spend(double ns) {
    const std::uint64_t begin = now();
    while (ns > left_) {
      time_ += left_ + std::uniform_real_distribution(1'000.0, 80'000.0)(random_); // an interrupt
      ns -= left_;
      switches_.push_back({.time_ns = now(), .pid = 1, .tid = 1, .out = true, .preempted = true});
      time_ += std::uniform_real_distribution(1'000.0, 4'000'000.0)(random_);
      switches_.push_back({.time_ns = now(), .pid = 1, .tid = 1});
      plan();
    }
    time_ += ns;
    left_ -= ns;
    return now() - begin;
  }

  std::mt19937 random_;
  double every_;
  double left_ = 0; // time on the CPU until it is taken away
  double time_ = 1'000;
  std::uint64_t program_ns_ = 0;
  std::vector<ProbeHit> hits_;
  std::vector<perfdata::Switch> switches_;
};

struct Truth {
  double f = 0; // mean latency
  double g = 0;
};

// 2,000 calls of f, of 400 ns itself. Each calls g three times, of 150 ns.
Truth run(BusyMachine& machine) {
  constexpr int calls = 2'000;
  Truth truth;
  for (int call = 0; call < calls; ++call) {
    const std::uint64_t begin = machine.enter(f, 1000);
    machine.run(100);
    for (int nested = 0; nested < 3; ++nested) {
      const std::uint64_t inner = machine.enter(g, 900);
      machine.run(150);
      machine.leave(g, 900);
      truth.g += static_cast<double>(machine.program_ns() - inner) / (3 * calls);
      machine.run(100);
    }
    machine.leave(f, 1000);
    truth.f += static_cast<double>(machine.program_ns() - begin) / calls;
    machine.run(50);
  }
  return truth;
}

// The mean latency of the function's calls, and their mean uncertainty.
struct Mean {
  double latency = 0;
  double within = 0;
};
Mean mean_of(const CallTable& table, FunctionId function) {
  Mean mean;
  double calls = 0;
  for (std::size_t call = 0; call < table.size(); ++call) {
    if (table.function[call] == function) {
      ++calls;
      mean.latency += static_cast<double>(table.latency[call]);
      mean.within += static_cast<double>(table.uncertainty[call]);
    }
  }
  return {.latency = mean.latency / calls, .within = mean.within / calls};
}

class PreemptedHits : public testing::TestWithParam<std::uint32_t> {};

TEST_P(PreemptedHits, TheTrueMeanIsWithinTheUncertainty) {
  for (const double every : {1e9, 100'000.0, 10'000.0}) {
    BusyMachine machine(GetParam(), every);
    const Truth truth = run(machine);
    const CallTable table = machine.calls();
    for (const auto& [function, mean] : {std::pair(f, truth.f), std::pair(g, truth.g)}) {
      const Mean measured = mean_of(table, function);
      constexpr double rounding = 8; // times are whole ns
      EXPECT_LE(std::abs(measured.latency - mean), measured.within + rounding)
          << "function " << index_of(function) << ", every " << every;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PreemptedHits, testing::Range(0U, 12U));

// A call with hits at 1,000 and 1,205,300 ns on a quiet machine. Its thread loses its CPU for a
// millisecond. `in_hit`: what its registers say then, if they are recorded.
CallTable preempted_call(std::uint64_t out_ns, std::optional<bool> in_hit = std::nullopt) {
  const perfdata::Switch out{.time_ns = out_ns, .pid = 1, .tid = 1, .out = true, .preempted = true};
  const perfdata::Switch in{.time_ns = out_ns + 1'000'000, .pid = 1, .tid = 1};
  const perfdata::ContextSwitches switches(std::vector{out, in});
  CallTableBuilder builder;
  ProbeCalls calls(builder.thread(0), switches, 1);
  calls.add({.time_ns = 1'000,
             .stack_pointer = 100,
             .function = f,
             .entry = true,
             .cost = entry_cost,
             .excess = excess});
  if (in_hit) {
    calls.add_switch(out_ns - 10, *in_hit);
  }
  calls.add({.time_ns = 1'205'300, .stack_pointer = 100, .function = f, .cost = exit_cost});
  calls.finish(2'000'000, false);
  return builder.take();
}

// What ran instead belongs to the call.
TEST(PreemptedCalls, AreNotLessCertainFarFromHits) {
  const CallTable table = preempted_call(201'000);
  EXPECT_EQ(table.uncertainty[0], 5U);
  EXPECT_EQ(table.latency[0], 1'204'250U);
}

// The switch is 60 µs after the entry.
TEST(PreemptedCalls, TheRegistersAtTheSwitchDecide) {
  EXPECT_EQ(preempted_call(61'000, false).uncertainty[0], 5U);
  EXPECT_EQ(preempted_call(61'000, true).uncertainty[0], 5U + 1'000'000);
  EXPECT_EQ(preempted_call(61'000).uncertainty[0], 5U + 1'000'000);
}

} // namespace
} // namespace ptlens::stacks
