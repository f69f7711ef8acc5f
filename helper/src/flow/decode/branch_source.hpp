// All trace of a recording as runs of branches, each thread's in order of time: the buffers are
// decoded side by side and the run that begins first comes next, so that a thread that moves
// between CPUs arrives stitched, in bounded memory.
#pragma once

#include "base/error.hpp"
#include "flow/branches/branch.hpp"
#include "flow/branches/run.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/decode/segmented_decoder.hpp"
#include "flow/packets/trace_piece.hpp"
#include "perfdata/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::flow {

class BranchSource {
public:
  // Recording and context must outlive the source. `make_context` makes others like it, by their
  // numbering, for workers.
  using MakeContext = std::function<std::unique_ptr<DecodeContext>(std::uint32_t)>;
  BranchSource(const perfdata::Recording& recording, DecodeContext& context,
               const MakeContext& make_context, const DecodeOptions& options);
  ~BranchSource();
  BranchSource(const BranchSource&) = delete;
  BranchSource& operator=(const BranchSource&) = delete;
  BranchSource(BranchSource&&) = delete;
  BranchSource& operator=(BranchSource&&) = delete;

  // Nothing at the end. Runs of one thread come in order of time.
  std::optional<Run> next();

  // Trace bytes that the runs so far have come from, within a segment.
  [[nodiscard]] std::uint64_t bytes_done() const;

  // After the last run.
  [[nodiscard]] DecodeSummary summary() const;

private:
  struct Lane { // one buffer being decoded
    const perfdata::AuxBuffer* buffer = nullptr;
    std::vector<TracePiece> pieces;
    std::size_t next_piece = 0;
    std::unique_ptr<SegmentedDecoder> decoder;
    std::optional<Run> head;
  };
  void advance(Lane& lane);

  DecodeContext* context_;
  DecodeOptions options_;
  std::size_t ahead_ = 1;                  // segments, of each lane
  std::unique_ptr<DecodeWorkers> workers_; // null: all is done by the caller
  std::vector<Lane> lanes_;
  DecodeSummary summary_;
  UncertaintyCounts widths_;
  std::uint64_t bytes_done_ = 0;
};

} // namespace ptlens::flow
