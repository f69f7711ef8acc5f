// How decoding would scale with more processors than there are: each segment is decoded by this
// thread alone in the context of the worker that would have it, and its CPU time counts on that
// worker's clock. Segments go in order to whichever worker is free first (Graham, "Bounds on
// Multiprocessing Timing Anomalies", 1969). One of the workers also does what must be done in
// order: it joins the segments, makes calls of their runs and writes the cache. `npm run bench --
// workers` uses it.
//
//   bench_workers RECORDING
//
// Processors that share caches and memory are slower than this, which counts work alone.
#include "engine/engine.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "flow/decode/piece_decoder.hpp"
#include "flow/packets/piece_parser.hpp"
#include "flow/packets/trace_piece.hpp"
#include "stacks/pairing/call_pairing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <time.h> // NOLINT: POSIX
#include <vector>

namespace ptlens::bench {
namespace {

double cpu_seconds(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Segment {
  const perfdata::AuxBuffer* buffer = nullptr;
  const flow::TracePiece* piece = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Times {         // seconds
  double whole = 0;    // until everything is done
  double decoding = 0; // CPU time of all workers for segments
};

class Simulation {
public:
  explicit Simulation(const engine::LoadedRecording& loaded) : loaded_(&loaded) {
    for (const perfdata::AuxBuffer& buffer : loaded.recording.aux_buffers()) {
      pieces_.push_back(flow::trace_pieces(loaded.recording, buffer));
    }
    std::size_t index = 0;
    for (const perfdata::AuxBuffer& buffer : loaded.recording.aux_buffers()) {
      for (const flow::TracePiece& piece : pieces_[index++]) {
        cut(buffer, piece);
      }
    }
  }

  [[nodiscard]] std::size_t segments() const { return segments_.size(); }

  // `in_order`: seconds of the work that is done in order.
  [[nodiscard]] Times run(std::size_t workers, double in_order) const {
    constexpr std::size_t ahead_of_a_worker = 2; // as in BranchSource
    std::vector<std::unique_ptr<flow::DecodeContext>> contexts(workers);
    std::vector<double> clocks(workers, 0);
    std::vector<double> ready(segments_.size(), 0);
    const double part = in_order / static_cast<double>(segments_.size());
    std::size_t decoded = 0;
    std::size_t joined = 0;
    Times times;
    while (joined < segments_.size()) {
      const auto worker =
          static_cast<std::size_t>(std::ranges::min_element(clocks) - clocks.begin());
      const bool joins = worker == 0 && joined < decoded && ready[joined] <= clocks[0];
      const bool decodes =
          decoded < segments_.size() && decoded < joined + ahead_of_a_worker * workers;
      if (joins) {
        clocks[0] += part;
        ++joined;
      } else if (decodes) {
        if (contexts[worker] == nullptr) {
          contexts[worker] = context(static_cast<std::uint32_t>(worker));
        }
        const double spent = decode(segments_[decoded], *contexts[worker]);
        times.decoding += spent;
        clocks[worker] += spent;
        ready[decoded++] = clocks[worker];
      } else if (worker == 0) {
        clocks[0] = ready[joined]; // waits for the segment
      } else {
        clocks[worker] = std::max(clocks[0], clocks[worker]) + part; // waits for a join
      }
    }
    times.whole = clocks[0];
    return times;
  }

private:
  // As SegmentedDecoder does.
  void cut(const perfdata::AuxBuffer& buffer, const flow::TracePiece& piece) {
    const std::uint64_t least = flow::DecodeOptions{}.segment_bytes;
    std::optional<std::uint64_t> begin = 0;
    while (begin) {
      const std::uint64_t next = *begin + least;
      const std::optional<std::uint64_t> end =
          next < piece.size ? flow::PieceParser(piece.trace, next).find_psb(next) : std::nullopt;
      segments_.push_back({.buffer = &buffer,
                           .piece = &piece,
                           .begin = *begin,
                           .end = end.value_or(std::numeric_limits<std::uint64_t>::max())});
      begin = end;
    }
  }

  [[nodiscard]] std::unique_ptr<flow::DecodeContext> context(std::uint32_t number) const {
    return std::make_unique<flow::DecodeContext>(loaded_->recording, *loaded_->spaces,
                                                 *loaded_->context_switches, flow::Detail::calls,
                                                 loaded_->pid, number, stacks::make_call_pairing);
  }

  static double decode(const Segment& segment, flow::DecodeContext& context) {
    const double before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    flow::PieceDecoder decoder(context, *segment.buffer, *segment.piece,
                               {segment.begin, segment.end});
    while (decoder.next()) {
    }
    return cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
  }

  const engine::LoadedRecording* loaded_;
  std::vector<std::vector<flow::TracePiece>> pieces_; // by buffer
  std::vector<Segment> segments_;
};

int simulate(const char* path) {
  constexpr std::size_t most_workers = 64;
  engine::OpenOptions options;
  options.workers = 1;
  const double before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (const auto opened = engine::open(path, options, Progress()); !opened) {
    fmt::print(stderr, "{}\n", opened.error().one_line());
    return 1;
  }
  const double whole = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
  const auto loaded = engine::load(path, options);
  if (!loaded) {
    fmt::print(stderr, "{}\n", loaded.error().one_line());
    return 1;
  }
  const Simulation simulation(*loaded);
  const double in_order = std::max(0.0, whole - simulation.run(1, 0).decoding);
  fmt::print(R"({{"segments":{},"one_core":{},"in_order":{},"workers":[)", simulation.segments(),
             whole, in_order);
  for (std::size_t workers = 1; workers <= most_workers; workers *= 2) {
    const Times times = simulation.run(workers, in_order);
    fmt::print(R"({}{{"workers":{},"whole":{},"decoding":{}}})", workers > 1 ? "," : "", workers,
               times.whole, times.decoding);
  }
  fmt::print("]}}\n");
  return 0;
}

} // namespace
} // namespace ptlens::bench

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(stderr, "usage: bench_workers RECORDING\n");
    return 2;
  }
  return ptlens::bench::simulate(words[1]);
}
