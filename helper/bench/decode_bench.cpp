// The stages of decoding one recording, in bytes of trace per second: parsing packets, computing
// their times, following the code, building calls. PTLENS_BENCH_RECORDING is the recording.
#include "engine/engine.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "flow/packets/packet_parser.hpp"
#include "flow/packets/packet_stream.hpp"
#include "flow/segments/branch_source.hpp"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <memory>
#include <vector>

namespace ptlens::bench {
namespace {

const engine::LoadedRecording* recording() {
  static const auto loaded = [] {
    const char* const path = std::getenv("PTLENS_BENCH_RECORDING");
    return engine::load(path == nullptr ? "" : path, {});
  }();
  return loaded ? &*loaded : nullptr;
}

const std::vector<flow::TracePiece>& pieces() {
  static const auto all = [] {
    std::vector<flow::TracePiece> list;
    for (const perfdata::AuxBuffer& buffer : recording()->recording.aux_buffers()) {
      std::ranges::move(flow::trace_pieces(recording()->recording, buffer),
                        std::back_inserter(list));
    }
    return list;
  }();
  return all;
}

void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(recording()->recording.trace_bytes()) *
                          state.iterations());
}

bool skipped(benchmark::State& state) {
  if (recording() == nullptr) {
    state.SkipWithError("PTLENS_BENCH_RECORDING names no recording");
    return true;
  }
  return false;
}

void parse_packets(benchmark::State& state) {
  if (skipped(state)) {
    return;
  }
  for (auto step : state) {
    std::uint64_t sum = 0;
    for (const flow::TracePiece& piece : pieces()) {
      flow::PieceParser parser(piece.trace);
      for (;;) {
        const flow::RawPacket packet = parser.next();
        if (packet.size == 0) {
          break;
        }
        sum += packet.payload;
      }
    }
    benchmark::DoNotOptimize(sum);
  }
  count_bytes(state);
}
BENCHMARK(parse_packets);

void place_packets(benchmark::State& state) {
  if (skipped(state)) {
    return;
  }
  const flow::DecodeContext context(recording()->recording, *recording()->spaces,
                                    *recording()->context_switches, flow::Detail::calls);
  for (auto step : state) {
    std::uint64_t sum = 0;
    for (const flow::TracePiece& piece : pieces()) {
      flow::PacketStream stream(piece, context.clock(), context.time_conversion());
      for (; stream.peek() != nullptr; stream.pop()) {
        sum += stream.peek()->latest_ns;
      }
    }
    benchmark::DoNotOptimize(sum);
  }
  count_bytes(state);
}
BENCHMARK(place_packets);

void follow_code(benchmark::State& state, flow::Decoder decoder) {
  if (skipped(state)) {
    return;
  }
  // The graph of basic blocks is built once, so that the benchmark measures following it.
  flow::DecodeContext context(recording()->recording, *recording()->spaces,
                              *recording()->context_switches, flow::Detail::calls);
  const auto follow = [&] {
    flow::BranchSource source(recording()->recording, context, nullptr, {.decoder = decoder});
    std::uint64_t branches = 0;
    while (const auto run = source.next()) {
      branches += run->branches.size();
    }
    return branches;
  };
  follow();
  for (auto step : state) {
    benchmark::DoNotOptimize(follow());
  }
  count_bytes(state);
}
BENCHMARK_CAPTURE(follow_code, graph, flow::Decoder::graph)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(follow_code, libipt, flow::Decoder::libipt)->Unit(benchmark::kMillisecond);

void rebuild_calls(benchmark::State& state) {
  if (skipped(state)) {
    return;
  }
  for (auto step : state) {
    const auto measurement = engine::open(recording()->recording.path(), {}, Progress());
    benchmark::DoNotOptimize(measurement.has_value());
  }
  count_bytes(state);
}
BENCHMARK(rebuild_calls)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace ptlens::bench

BENCHMARK_MAIN();
