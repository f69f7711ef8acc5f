// Everything that a recording holds besides its trace bytes, as it is filled while the file is
// read.
#pragma once

#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/contents/records.hpp"
#include "perfdata/contents/time_conversion.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::perfdata {

// Keeps copies of bytes that must outlive the buffer they were read from. The copies stay where
// they are when the store is moved.
class ByteArena {
public:
  std::span<const std::byte> keep(std::span<const std::byte> bytes);

private:
  static constexpr std::size_t block_size = 1U << 18; // larger than any record
  std::vector<std::vector<std::byte>> blocks_;
};

struct SideBand {
  std::vector<Mapping> mappings;
  std::vector<ThreadName> thread_names;
  std::vector<ThreadStart> thread_starts;
  std::vector<ThreadExit> thread_exits;
  std::vector<Switch> switches;
  std::vector<AuxWrite> aux_writes;
  std::vector<TraceStart> trace_starts;
  std::vector<Lost> lost;
  std::vector<KernelSymbol> kernel_symbols;
  std::vector<TextPoke> text_pokes;
  std::vector<AuxTraceError> trace_errors;
  std::vector<Sample> samples;
  std::vector<BuildIdEntry> build_ids;
  std::optional<IntelPtInfo> intel_pt;
  TimeConversion time_conversion;
  std::string hostname;
  std::string cpu_id;
  std::vector<std::string> command_line;
  std::vector<std::uint64_t> record_counts = std::vector<std::uint64_t>(record_types);
  ByteArena bytes; // raw payloads of samples that were compressed

  // perf writes records of several buffers one buffer after the other: orders each list by time.
  // Records of equal time keep their order in the file.
  void order_by_time();
};

} // namespace ptlens::perfdata
