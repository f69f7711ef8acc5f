// How decoding would scale with more processors than there are: each segment is decoded by this
// thread alone in the context of the worker that would have it, and its CPU time counts on that
// processor's clock. Work goes in order to whichever processor is free first (Graham, "Bounds on
// Multiprocessing Timing Anomalies", 1969). The first processor also does what must be done in
// order: it joins the segments and makes calls of their runs. The encoders of the cache take these
// calls, each its own part of them. `npm run bench -- workers` uses it.
//
//   bench_workers RECORDING
//
// Processors that share caches and memory are slower than this, which counts work alone.
#include "engine/cache/cached_calls.hpp"
#include "engine/engine.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "engine/trace/trace_backend.hpp"
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

// CPU time in seconds, apart from that for segments.
struct Parts {
  double in_order = 0;
  double encoding = 0;  // of blocks, by the encoders
  double finishing = 0; // the cache, when all calls are closed; on all processors
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

  [[nodiscard]] Times run(std::size_t workers, const Parts& parts) const {
    constexpr std::size_t ahead_of_a_worker = 2; // as in BranchSource
    constexpr std::size_t behind = 2;            // segments that wait for an encoder, at most
    constexpr std::size_t most_finishing = 8;    // as in base/parallel.cpp
    const std::size_t all = segments_.size();
    const std::size_t encoders = std::max<std::size_t>(1, cache::Writer::encoders_for(workers));
    const double join = parts.in_order / static_cast<double>(all);
    const double encode = parts.encoding / static_cast<double>(all * encoders);
    std::vector<std::unique_ptr<flow::DecodeContext>> contexts(workers);
    std::vector<double> clocks(workers, 0);
    std::vector<double> decoded; // when each segment was
    std::vector<double> joined;
    struct Encoder {
      std::size_t segments = 0;
      double free = 0;
    };
    std::vector<Encoder> encoding(encoders);
    Times times;
    const auto slowest = [&] {
      return std::ranges::min(encoding, {}, &Encoder::segments).segments;
    };
    while (slowest() < all) {
      const auto worker =
          static_cast<std::size_t>(std::ranges::min_element(clocks) - clocks.begin());
      double& now = clocks[worker];
      const auto encoder = std::ranges::find_if(encoding, [&](const Encoder& each) {
        return each.segments < joined.size() && joined[each.segments] <= now && each.free <= now;
      });
      if (worker == 0 && joined.size() < decoded.size() && decoded[joined.size()] <= now &&
          joined.size() < slowest() + behind) {
        now += join;
        joined.push_back(now);
      } else if (encoder != encoding.end()) {
        now += encode;
        ++encoder->segments;
        encoder->free = now;
      } else if (decoded.size() < all &&
                 decoded.size() < joined.size() + ahead_of_a_worker * workers) {
        if (contexts[worker] == nullptr) {
          contexts[worker] = context(static_cast<std::uint32_t>(worker));
        }
        const double spent = decode(segments_[decoded.size()], *contexts[worker]);
        times.decoding += spent;
        now += spent;
        decoded.push_back(now);
      } else {
        now = next_after(now, clocks, decoded, joined);
      }
    }
    times.whole = std::ranges::max(encoding, {}, &Encoder::free).free +
                  parts.finishing / static_cast<double>(std::min(workers, most_finishing));
    return times;
  }

private:
  // Returns the time of the next event.
  static double next_after(double now, const std::vector<double>& clocks,
                           const std::vector<double>& decoded, const std::vector<double>& joined) {
    double next = std::numeric_limits<double>::max();
    for (const auto* const times : {&clocks, &decoded, &joined}) {
      for (const double time : *times) {
        next = time > now ? std::min(next, time) : next;
      }
    }
    return next;
  }

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

// Measures what one thread does in order, with the segments, while another encodes the blocks.
Result<Parts> measure_parts(engine::LoadedRecording& loaded) {
  loaded.decode.workers = 1;
  cache::Writer writer(cache::Writer::Options{.encoders = 1});
  const double thread_before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  const double before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  auto measured = engine::measure_trace(loaded, writer, {}, Progress());
  if (!measured) {
    return std::unexpected(measured.error());
  }
  const double own = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - thread_before;
  const double closed = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (auto finished = engine::finish_cache(*measured, writer, {}, false); !finished) {
    return std::unexpected(finished.error());
  }
  return Parts{.in_order = own,
               .encoding = closed - before - own,
               .finishing = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - closed};
}

Parts least(const Parts& one, const Parts& other) {
  return {.in_order = std::min(one.in_order, other.in_order),
          .encoding = std::min(one.encoding, other.encoding),
          .finishing = std::min(one.finishing, other.finishing)};
}

int fail(const Error& error) {
  fmt::print(stderr, "{}\n", error.one_line());
  return 1;
}

int simulate(const char* path) {
  constexpr std::size_t most_workers = 64;
  constexpr int attempts = 3;
  engine::OpenOptions options;
  options.workers = 1;
  auto loaded = engine::load(path, options);
  if (!loaded) {
    return fail(loaded.error());
  }
  const Simulation simulation(*loaded);
  double decoding = std::numeric_limits<double>::max();
  std::optional<Parts> parts;
  for (int attempt = 0; attempt < attempts; ++attempt) { // the first one also reads the symbols
    decoding = std::min(decoding, simulation.run(1, {}).decoding);
    const auto measured = measure_parts(*loaded);
    if (!measured) {
      return fail(measured.error());
    }
    parts = parts ? least(*parts, *measured) : *measured;
  }
  parts->in_order = std::max(0.0, parts->in_order - decoding);
  fmt::print(
      R"({{"segments":{},"decoding":{},"in_order":{},"encoding":{},"finishing":{},"workers":[)",
      simulation.segments(), decoding, parts->in_order, parts->encoding, parts->finishing);
  for (std::size_t workers = 1; workers <= most_workers; workers *= 2) {
    const Times times = simulation.run(workers, *parts);
    fmt::print(R"({}{{"workers":{},"encoders":{},"whole":{},"decoding":{}}})",
               workers > 1 ? "," : "", workers, cache::Writer::encoders_for(workers), times.whole,
               times.decoding);
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
