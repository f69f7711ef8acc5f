// All trace of a recording as runs of branches, those of each thread in order of time. The buffers
// are decoded side by side, and the run that begins first comes next, so that the runs of a thread
// that moves between CPUs arrive in order, in bounded memory.
#pragma once

#include "base/error.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/packets/trace_piece.hpp"
#include "flow/runs/run.hpp"
#include "flow/segments/segmented_decoder.hpp"
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
  // Recording and context must outlive the source. `make_context` makes a context like `context`
  // with another numbering, for a worker.
  using MakeContext = std::function<std::unique_ptr<DecodeContext>(std::uint32_t)>;
  BranchSource(const perfdata::Recording& recording, DecodeContext& context,
               const MakeContext& make_context, const DecodeOptions& options);
  ~BranchSource();
  BranchSource(const BranchSource&) = delete;
  BranchSource& operator=(const BranchSource&) = delete;
  BranchSource(BranchSource&&) = delete;
  BranchSource& operator=(BranchSource&&) = delete;

  // Returns the next run, nullopt at the end. The runs of one thread come in order of time.
  std::optional<Run> next();

  // Returns the number of trace bytes that the runs so far came from, to within a segment.
  [[nodiscard]] std::uint64_t bytes_done() const;

  // Returns the statistics. To be called after the last run.
  [[nodiscard]] DecodeSummary summary() const;

private:
  struct Lane { // one buffer that is being decoded
    const perfdata::AuxBuffer* buffer = nullptr;
    std::vector<TracePiece> pieces;
    std::size_t next_piece = 0;
    std::unique_ptr<SegmentedDecoder> decoder;
    std::optional<Run> head;
  };
  void advance(Lane& lane);

  DecodeContext* context_;
  DecodeOptions options_;
  std::size_t ahead_ = 1;                  // segments of each lane that are decoded ahead
  std::unique_ptr<DecodeWorkers> workers_; // null: the caller's thread does all work
  std::vector<Lane> lanes_;
  DecodeSummary summary_;
  UncertaintyCounts intervals_;
  std::uint64_t bytes_done_ = 0;
};

} // namespace ptlens::flow
