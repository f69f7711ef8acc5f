// The number of calls per second that the questions of measure/ process, on synthetic recordings
// with stacks about 20 deep, 200 functions and 4 threads.
#include "cache/reading/call_rows.hpp"
#include "measure/flame/flame.hpp"
#include "measure/lines/lines.hpp"
#include "measure/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <benchmark/benchmark.h>
#include <bit>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace cache = ptlens::cache;
namespace measure = ptlens::measure;
namespace stacks = ptlens::stacks;

constexpr std::uint32_t function_count = 200;
constexpr std::uint32_t sites_per_function = 8;
constexpr std::uint32_t thread_count = 4;
constexpr std::uint32_t deepest = 40;

// A random walk of calls and returns, at least one ns apart. Each function calls eight others from
// eight sites; with `recursive`, also itself.
class Walk {
public:
  Walk(std::uint32_t calls, bool recursive) : recursive_(recursive) {
    for (std::uint32_t function = 0; function < function_count; ++function) {
      const std::string file = fmt::format("/src/file{}.cpp", function % 10);
      result_.functions.push_back({.name = fmt::format("ns::function_{}(int)", function),
                                   .binary = "/bin/app",
                                   .address = 0x1000 + 64 * std::uint64_t{function},
                                   .file = file,
                                   .line = 10 * function,
                                   .end_line = 10 * function + 9});
      for (std::uint32_t site = 0; site < sites_per_function; ++site) {
        result_.sites.push_back({.function = stacks::FunctionId{function},
                                 .address = 0x1000 + 64 * std::uint64_t{function} + site,
                                 .file = file,
                                 .line = 10 * function + site});
      }
    }
    for (std::uint32_t thread = 0; thread < thread_count; ++thread) {
      walk_thread(thread, calls / thread_count);
    }
    result_.recording.trace_ns = now_;
  }

  measure::Measurement take() {
    result_.cache = cache::cache_of(calls_, {.functions = result_.functions,
                                             .sites = result_.sites,
                                             .threads = result_.threads,
                                             .more = {}})
                        .value();
    return std::move(result_);
  }

  // Makes every call a root call of function 0.
  void flatten() {
    std::ranges::fill(calls_.function, stacks::FunctionId{});
    std::ranges::fill(calls_.parent, stacks::CallIndex::none);
    std::ranges::fill(calls_.inner, std::uint8_t{0});
  }

private:
  void walk_thread(std::uint32_t thread, std::uint32_t calls) {
    const std::uint64_t first = now_;
    std::vector<std::uint32_t> open;
    std::vector<std::uint32_t> activations(function_count, 0);
    const auto leave = [&] {
      const std::uint32_t call = open.back();
      stacks::CallTable& table = calls_;
      table.latency[call] = now_ - table.start[call];
      --activations[ptlens::index_of(table.function[call])];
      open.pop_back();
      if (!open.empty()) {
        table.children[open.back()] += table.latency[call];
        table.blocked[open.back()] += table.blocked[call];
        table.switches[open.back()] += table.switches[call];
      }
    };
    for (std::uint32_t left = calls; left > 0;) {
      now_ += 1 + random_() % 64;
      if (!open.empty() && (open.size() == deepest || random_() % 100 < 49)) {
        leave();
        continue;
      }
      enter(thread, open, activations);
      --left;
    }
    while (!open.empty()) {
      ++now_;
      leave();
    }
    stacks::ThreadInfo info;
    info.tid = static_cast<std::int32_t>(thread);
    info.first_ns = first;
    info.last_ns = now_;
    result_.threads.push_back(info);
  }

  void enter(std::uint32_t thread, std::vector<std::uint32_t>& open,
             std::vector<std::uint32_t>& activations) {
    stacks::CallTable& table = calls_;
    const std::uint32_t caller = open.empty() ? 0 : ptlens::index_of(table.function[open.back()]);
    const auto site = // each half as likely as the one before
        static_cast<std::uint32_t>(std::countr_zero(random_() | 1U << (sites_per_function - 1)));
    const std::uint32_t stride = recursive_ ? site : site + 1;
    const std::uint32_t function = open.empty() ? 0 : (caller + stride * stride) % function_count;
    const std::uint64_t off = random_() % 100 == 0 ? 1 + random_() % 50'000 : 0;
    table.thread.push_back(thread);
    table.function.push_back(stacks::FunctionId{function});
    table.parent.push_back(open.empty() ? stacks::CallIndex::none : stacks::CallIndex{open.back()});
    table.site.push_back(open.empty() ? stacks::SiteId::none
                                      : stacks::SiteId{caller * sites_per_function + site});
    table.start.push_back(now_);
    table.latency.push_back(0);
    table.uncertainty.push_back(0);
    table.outside.push_back(0);
    table.children.push_back(0);
    table.blocked.push_back(off);
    table.preempted.push_back(0);
    table.switches.push_back(off > 0 ? 1 : 0);
    table.state.push_back(stacks::CallState::complete);
    table.tail_call.push_back(0);
    table.removed.push_back(0);
    table.end_unknown.push_back(0);
    table.inner.push_back(activations[function] > 0 ? 1 : 0);
    now_ += off;
    ++activations[function];
    open.push_back(static_cast<std::uint32_t>(table.size() - 1));
  }

  measure::Measurement result_;
  stacks::CallTable calls_;
  std::mt19937_64 random_{42};
  std::uint64_t now_ = 1;
  bool recursive_;
};

const measure::Measurement& recording(std::int64_t calls, bool recursive) {
  static std::map<std::pair<std::int64_t, bool>, measure::Measurement> made;
  auto found = made.find({calls, recursive});
  if (found == made.end()) {
    found = made.emplace(std::pair(calls, recursive),
                         Walk(static_cast<std::uint32_t>(calls), recursive).take())
                .first;
  }
  return found->second;
}

// Runs `question` on a recording of state.range(0) calls; range(1): with recursion.
template <class Question>
void ask(benchmark::State& state, const Question& question) {
  const measure::Measurement& m = recording(state.range(0), state.range(1) != 0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(question(m));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0)); // items are calls
}

void report_of_one_function(benchmark::State& state) {
  ask(state,
      [](const measure::Measurement& m) { return measure::report(m, stacks::FunctionId{7}, {}); });
}

// All calls are calls of one function and none is nested: the largest possible report.
void report_of_every_call(benchmark::State& state) {
  Walk walk(static_cast<std::uint32_t>(state.range(0)), false);
  walk.flatten();
  const measure::Measurement m = walk.take();
  for (auto _ : state) {
    benchmark::DoNotOptimize(measure::report(m, stacks::FunctionId{0}, {}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void report_below_an_ancestor(benchmark::State& state) {
  measure::Selection selection;
  selection.ancestors = {{.function = "function_3", .latency = {}}};
  selection.latency = measure::Interval{.low = 100, .high = 1'000'000};
  ask(state, [&](const measure::Measurement& m) {
    return measure::report(m, stacks::FunctionId{7}, selection);
  });
}

void all_functions(benchmark::State& state) {
  ask(state, [](const measure::Measurement& m) { return measure::functions(m); });
}

void flame_graph(benchmark::State& state, measure::FlameTime time) {
  ask(state, [time](const measure::Measurement& m) {
    return measure::flame(m, std::nullopt, {}, time, 0.0005);
  });
  const measure::Measurement& m = recording(state.range(0), state.range(1) != 0);
  state.counters["stacks"] =
      static_cast<double>(measure::flame(m, std::nullopt, {}, time, 0).size());
}

void flame_graph_of_one_function(benchmark::State& state) {
  ask(state, [](const measure::Measurement& m) {
    return measure::flame(m, stacks::FunctionId{7}, {}, measure::FlameTime::wall, 0.0005);
  });
}

void lines_of_a_file(benchmark::State& state) {
  ask(state, [](const measure::Measurement& m) { return measure::lines(m, "file3.cpp"); });
}

constexpr std::int64_t million = 1'000'000;

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Unit(benchmark::kMillisecond)->ArgNames({"calls", "recursive"});
  bench->Args({million, 0})->Args({million, 1})->Args({10 * million, 1});
}

BENCHMARK(report_of_one_function)->Apply(sizes);
BENCHMARK(report_of_every_call)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("calls")
    ->Arg(million)
    ->Arg(10 * million);
BENCHMARK(report_below_an_ancestor)->Apply(sizes);
BENCHMARK(all_functions)->Apply(sizes);
BENCHMARK_CAPTURE(flame_graph, wall, measure::FlameTime::wall)->Apply(sizes);
BENCHMARK_CAPTURE(flame_graph, on_cpu, measure::FlameTime::on_cpu)->Apply(sizes);
BENCHMARK(flame_graph_of_one_function)->Apply(sizes);
BENCHMARK(lines_of_a_file)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
