// The cost of libipt alone: its decoders process the whole trace of a recording of one process with
// the loop from its manual, and query the time of each block. Sections stay in its cache, so that
// no block is decoded twice. `npm run bench` uses it.
//
//   bench_libipt block|instruction RECORDING
#include "engine/recording/loaded_recording.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/packets/trace_piece.hpp"

#include <fmt/format.h>
#include <intel-pt.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

namespace ptlens::bench {
namespace {

struct Count {
  std::uint64_t steps = 0; // blocks or instructions
  std::uint64_t errors = 0;
  std::uint64_t times = 0; // a checksum, so that the time is computed
};

struct Blocks {
  using Decoder = pt_block_decoder;
  using Step = pt_block;
  static void adjust(pt_config& config) { config.flags.variant.block.end_on_call = 1; }
  static constexpr auto allocate = pt_blk_alloc_decoder;
  static constexpr auto free = pt_blk_free_decoder;
  static constexpr auto set_image = pt_blk_set_image;
  static constexpr auto synchronise = pt_blk_sync_forward;
  static constexpr auto event = pt_blk_event;
  static constexpr auto next = pt_blk_next;
  static constexpr auto time = pt_blk_time;
};

struct Instructions {
  using Decoder = pt_insn_decoder;
  using Step = pt_insn;
  static void adjust(pt_config& /*config*/) {}
  static constexpr auto allocate = pt_insn_alloc_decoder;
  static constexpr auto free = pt_insn_free_decoder;
  static constexpr auto set_image = pt_insn_set_image;
  static constexpr auto synchronise = pt_insn_sync_forward;
  static constexpr auto event = pt_insn_event;
  static constexpr auto next = pt_insn_next;
  static constexpr auto time = pt_insn_time;
};

// Decodes from a synchronisation point to the next error, and returns the negative error code.
template <class Kind>
int follow(typename Kind::Decoder* decoder, int status, Count& count) {
  while (status >= 0) {
    while (status >= 0 && (status & pts_event_pending) != 0) {
      pt_event event;
      status = Kind::event(decoder, &event, sizeof event);
    }
    if (status < 0 || (status & pts_eos) != 0) {
      return status < 0 ? status : -pte_eos;
    }
    typename Kind::Step step{};
    status = Kind::next(decoder, &step, sizeof step);
    std::uint64_t now = 0;
    Kind::time(decoder, &now, nullptr, nullptr);
    count.times += now;
    ++count.steps;
  }
  return status;
}

// The mapped code, in libipt's cache of sections.
class Image {
public:
  explicit Image(const symbols::AddressSpaceVersion& version)
      : cache_(pt_iscache_alloc("bench"), pt_iscache_free),
        image_(pt_image_alloc("bench"), pt_image_free) {
    pt_iscache_set_limit(cache_.get(), cache_bytes);
    for (const symbols::MappedCode& mapped : version.code) {
      if (!mapped.binary) {
        continue;
      }
      const int section =
          pt_iscache_add_file(cache_.get(), mapped.binary->path().c_str(), mapped.file_offset,
                              mapped.end - mapped.start, mapped.start);
      if (section > 0) {
        pt_image_add_cached(image_.get(), cache_.get(), section, nullptr);
      }
    }
  }
  [[nodiscard]] pt_image* get() const { return image_.get(); }

private:
  static constexpr std::uint64_t cache_bytes = 1U << 30U;
  std::unique_ptr<pt_image_section_cache, void (*)(pt_image_section_cache*)> cache_;
  std::unique_ptr<pt_image, void (*)(pt_image*)> image_;
};

template <class Kind>
Count decode(const engine::LoadedRecording& loaded) {
  flow::DecodeContext context(loaded.recording, *loaded.spaces, *loaded.context_switches,
                              flow::Detail::calls);
  pt_config config = context.config();
  config.flags = {};
  Kind::adjust(config);
  Count count;
  const auto names = loaded.recording.thread_names();
  const std::int32_t pid = names.empty() ? 0 : names.front().pid;
  const Image image(loaded.spaces->at(pid, UINT64_MAX));
  for (const perfdata::AuxBuffer& buffer : loaded.recording.aux_buffers()) {
    for (const flow::TracePiece& piece : flow::trace_pieces(loaded.recording, buffer)) {
      flow::PieceBytes bytes(piece);
      config.begin = bytes.begin();
      config.end = bytes.end();
      const std::unique_ptr<typename Kind::Decoder, void (*)(typename Kind::Decoder*)> decoder(
          Kind::allocate(&config), [](typename Kind::Decoder* each) { Kind::free(each); });
      if (!decoder || pid <= 0) {
        ++count.errors;
        continue;
      }
      Kind::set_image(decoder.get(), image.get());
      int status = Kind::synchronise(decoder.get());
      while (status >= 0) {
        status = follow<Kind>(decoder.get(), status, count);
        if (status == -pte_eos) {
          break;
        }
        ++count.errors;
        status = Kind::synchronise(decoder.get());
      }
    }
  }
  return count;
}

int run(std::string_view kind, const char* path) {
  const auto loaded = engine::load(path, {});
  if (!loaded || (kind != "block" && kind != "instruction")) {
    fmt::print(stderr, "usage: bench_libipt block|instruction RECORDING\n");
    return 2;
  }
  const Count count = kind == "block" ? decode<Blocks>(*loaded) : decode<Instructions>(*loaded);
  fmt::print("{{\"steps\": {}, \"errors\": {}, \"times\": {}}}\n", count.steps, count.errors,
             count.times);
  return 0;
}

} // namespace
} // namespace ptlens::bench

int main(int argc, char** argv) {
  return argc == 3 ? ptlens::bench::run(argv[1], argv[2]) : 2;
}
