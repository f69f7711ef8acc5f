// The cost of the call cache: writing a call, reading the rows of calls, the table of functions.
// The calls come from a random walk over 200 functions with stacks about 10 deep. One call in fifty
// is a call of function 0.
#include "cache/reading/call_rows.hpp"
#include "cache/writing/writer.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/call_subset.hpp"
#include "stacks/calls/closed_call.hpp"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

namespace measure = ptlens::measure;
namespace stacks = ptlens::stacks;
namespace cache = ptlens::cache;

constexpr std::uint32_t function_count = 200;
constexpr std::size_t deepest = 20;

// xorshift64 (Marsaglia 2003).
struct Random {
  std::uint64_t state = 0x9e3779b97f4a7c15;
  std::uint64_t next() {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    return state;
  }
};

// Gives `count` calls to `take`, each when it closes.
template <class Take>
void walk(std::uint64_t count, const Take& take) {
  Random random;
  std::vector<stacks::ClosedCall> open;
  std::uint64_t now = 1'000'000'000;
  std::uint32_t opened = 0;
  while (opened < count || !open.empty()) {
    const std::uint64_t dice = random.next();
    now += 1 + dice % 64;
    if (opened < count && (open.empty() || (open.size() < deepest && dice >> 62U != 0))) {
      stacks::ClosedCall call;
      const std::uint32_t choice = (dice >> 20U) % 4;
      const auto caller = open.empty() ? stacks::FunctionId::none : open.back().function;
      call.function = stacks::FunctionId{
          (dice >> 30U) % 50 == 0 ? 0
          : open.empty()          ? 1
                         : (ptlens::index_of(caller) * 3 + choice * 7 + 1) % function_count};
      call.caller = caller;
      call.site = open.empty() ? stacks::SiteId::none
                               : stacks::SiteId{ptlens::index_of(caller) * 4 + choice};
      call.order = stacks::CallId{opened++};
      call.parent = open.empty() ? stacks::CallId::none : open.back().order;
      call.uncertainty = 10 + dice % 32;
      call.start = now;
      call.state = stacks::CallState::complete;
      open.push_back(call);
      continue;
    }
    stacks::ClosedCall& call = open.back();
    call.latency = now - call.start;
    if (dice % 128 == 0) {
      call.blocked = dice % 50'000;
      call.switches = 1;
    }
    take(call);
    const std::uint64_t latency = call.latency;
    open.pop_back();
    if (!open.empty()) {
      open.back().children += latency;
    }
  }
}

cache::Description description() {
  cache::Description made;
  for (std::uint32_t function = 0; function < function_count; ++function) {
    made.functions.push_back({.name = "function_" + std::to_string(function),
                              .binary = "/bin/app",
                              .address = function,
                              .file = "",
                              .line = 0,
                              .end_line = 0});
    for (std::uint32_t site = 0; site < 4; ++site) {
      made.sites.push_back(
          {.function = stacks::FunctionId{function}, .address = site, .file = "", .line = 0});
    }
  }
  made.threads.push_back({.pid = 1, .tid = 1, .comm = "app", .first_ns = 1, .last_ns = 2});
  return made;
}

const std::string& folder() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("ptlens-bench-" + std::to_string(::getpid())))
          .string();
  std::filesystem::create_directories(path);
  return path;
}

std::shared_ptr<cache::CallCache> written(std::int64_t calls) {
  cache::Writer writer(cache::Writer::Options{.path = folder() + "/calls"});
  stacks::CallSink& sink = writer.thread(0);
  walk(static_cast<std::uint64_t>(calls), [&](const stacks::ClosedCall& call) { sink.take(call); });
  return writer.finish({}, description()).value_or(nullptr);
}

double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The walk alone, whose time is part of write_calls.
void walk_alone(benchmark::State& state) {
  for (auto _ : state) {
    std::uint64_t sum = 0;
    walk(static_cast<std::uint64_t>(state.range(0)), [&](const stacks::ClosedCall& call) {
      sum += call.latency;
      benchmark::DoNotOptimize(sum);
    });
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void write_calls(benchmark::State& state) {
  std::shared_ptr<cache::CallCache> made;
  for (auto _ : state) {
    made = written(state.range(0));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["bytes_per_call"] =
      static_cast<double>(made->bytes()) / static_cast<double>(made->calls());
  state.counters["peak_MB"] = peak_megabytes();
}

// Opens the cache for each question, as a command does.
template <class Question>
void ask(benchmark::State& state, const Question& question) {
  (void)written(state.range(0));
  for (auto _ : state) {
    auto opened = cache::CallCache::open(folder() + "/calls").value_or(nullptr);
    cache::Description described = opened->take_description();
    measure::Measurement measurement;
    measurement.functions = std::move(described.functions);
    measurement.sites = std::move(described.sites);
    measurement.threads = std::move(described.threads);
    measurement.cache = std::move(opened);
    question(state, measurement);
  }
  state.counters["peak_MB"] = peak_megabytes();
}

void all_functions(benchmark::State& state) {
  ask(state, [](benchmark::State&, const measure::Measurement& measurement) {
    benchmark::DoNotOptimize(measure::functions(measurement));
  });
}

void read_rows_of_one(benchmark::State& state) {
  ask(state, [](benchmark::State& running, const measure::Measurement& measurement) {
    measure::CallsNeeded needed(measurement);
    needed.add_calls_of(stacks::FunctionId{0});
    running.counters["calls_read"] = static_cast<double>(needed.read().calls().size());
  });
}

void report_of_one(benchmark::State& state) {
  ask(state, [](benchmark::State& running, const measure::Measurement& measurement) {
    const measure::Report report = measure::report(measurement, stacks::FunctionId{0}, {});
    running.counters["calls_reported"] = static_cast<double>(report.complete);
  });
}

void sizes(benchmark::internal::Benchmark* bench) {
  constexpr std::int64_t million = 1'000'000;
  bench->Unit(benchmark::kMillisecond)->ArgName("calls")->Arg(million)->Arg(20 * million);
}

BENCHMARK(walk_alone)->Apply(sizes);
BENCHMARK(write_calls)->Apply(sizes);
BENCHMARK(all_functions)->Apply(sizes);
BENCHMARK(read_rows_of_one)->Apply(sizes);
BENCHMARK(report_of_one)->Apply(sizes);

} // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(folder());
}
