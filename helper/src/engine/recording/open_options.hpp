// The options with which a recording is opened.
#pragma once

#include "engine/recording/source_map.hpp"
#include "flow/segments/branch_source.hpp"
#include "measure/report/watched_function.hpp"
#include "symbols/read_binaries.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ptlens::engine {

struct OpenOptions {
  std::string symfs;         // empty: none
  std::string kallsyms = {}; // of the traced kernel; empty: that of the recording's kcore_dir
  std::string kcore = {};    // its code; empty: beside kallsyms
  SourceMap source_map = {}; // where the program's sources are on this machine
  flow::Decoder decoder = flow::Decoder::graph;
  unsigned workers = 0; // threads that decode; 0: one for each processor
  // The trace is cut at PSBs into segments of at least so many bytes, which the workers share.
  std::uint64_t segment_bytes = flow::DecodeOptions{}.segment_bytes;
  // The memory that decoding may use, approximately, besides the mapped recording and the symbols;
  // 0: a quarter of the machine's memory.
  std::uint64_t memory_bytes = 0;
  std::optional<std::int32_t> pid = {}; // only this process of the recording; nothing: all
  bool inlined_names = false;           // fill Measurement::inlined_names: reads all DIEs
  measure::Watch watch = {};            // reports on one function while the trace is decoded
  bool use_cache = false;               // read the cache of an earlier decode, or write one
  std::shared_ptr<const symbols::ReadBinaries> read = {}; // while recording; may be null
  std::shared_ptr<flow::DecodedAhead> ahead = {};         // the same; for one opening
};

} // namespace ptlens::engine
