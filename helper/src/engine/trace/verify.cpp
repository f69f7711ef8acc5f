// Both decoders process every trace fragment.
#include "engine/trace/verify.hpp"

#include "engine/bundle/bundle.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "engine/trace/load_trace.hpp"
#include "flow/packets/trace_piece.hpp"
#include "flow/segments/segmented_decoder.hpp"

namespace ptlens::engine {

Result<Verdict> verify(const std::string& named, const OpenOptions& options,
                       const Progress& progress) {
  const auto loaded = load_trace(named, options);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  flow::DecodeContext context(loaded->recording, *loaded->spaces, *loaded->context_switches,
                              flow::Detail::branches);
  Verdict verdict;
  std::uint64_t done = 0;
  for (const perfdata::AuxBuffer& buffer : loaded->recording.aux_buffers()) {
    for (const flow::TracePiece& piece : flow::trace_pieces(loaded->recording, buffer)) {
      flow::SegmentedDecoder ours(context, nullptr, buffer, piece, loaded->decode, 0);
      flow::ReferenceDecoder reference(context, buffer, piece);
      const Streams streams{
          .ours = [&] { return ours.next(); },
          .reference = [&] { return reference.next(); },
          .code_is_missing =
              [&](const flow::Run& run, const flow::Branch& gap) {
                return !context.graph(run.pid, gap.time_ns).image().holds(gap.from);
              },
      };
      compare(streams, [&] { return progress.cancelled(); }, verdict);
      if (progress.cancelled()) {
        return std::unexpected(
            Error{.kind = Error::Kind::cancelled, .message = "the verification was cancelled"});
      }
      if (verdict.difference) {
        verdict.difference->cpu = buffer.cpu;
        verdict.difference->offset += piece.aux_offset;
        return verdict;
      }
      ++verdict.pieces;
      done += piece.size;
      progress.report({"verifying", done, loaded->recording.trace_bytes(), "bytes"});
    }
  }
  return verdict;
}

} // namespace ptlens::engine
