// The records of a recording other than its trace bytes. The readers of the file fill it.
#pragma once

#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/contents/records.hpp"
#include "perfdata/contents/time_conversion.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::perfdata {

// Copies of bytes that must outlive the buffer that they were read from. The copies do not move
// when the arena is moved.
class ByteArena {
public:
  std::span<const std::byte> keep(std::span<const std::byte> bytes);

private:
  static constexpr std::size_t block_size = 1U << 18; // larger than any record
  std::vector<std::vector<std::byte>> blocks_;
};

// Where the payload of a sample is: in the mapped file, or in SideBand::bytes.
struct SampleRecord {
  const std::byte* payload = nullptr;
  std::uint32_t size = 0;      // bytes
  std::uint32_t attribute = 0; // index into Recording::attributes()
};

struct SideBand {
  std::vector<Mapping> mappings;
  std::vector<ThreadName> thread_names;
  std::vector<ThreadStart> thread_starts;
  std::vector<ThreadExit> thread_exits;
  std::vector<Switch> switches;
  bool switches_recorded = false; // of files without attributes: absence of a switch is known
  std::vector<AuxWrite> aux_writes;
  std::vector<TraceStart> trace_starts;
  std::vector<Lost> lost;
  std::vector<KernelSymbol> kernel_symbols;
  std::vector<TextPoke> text_pokes;
  std::vector<AuxTraceError> trace_errors;
  std::deque<SampleRecord> samples; // a deque never needs the memory twice
  bool samples_in_order = true;     // of time
  std::uint64_t latest_sample_ns = 0;
  std::vector<BuildIdEntry> build_ids;
  std::optional<IntelPtInfo> intel_pt;
  TimeConversion time_conversion;
  std::string hostname;
  std::string cpu_id;
  std::vector<std::string> command_line;
  std::vector<std::uint64_t> record_counts = std::vector<std::uint64_t>(record_types);
  ByteArena bytes; // payloads of compressed samples

  // Orders each list by time, except the samples, because perf writes the records of several
  // buffers one buffer after the other. Records of equal time keep their order in the file.
  void order_by_time();
};

} // namespace ptlens::perfdata
