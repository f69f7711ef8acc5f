// A perf.data file, mapped and read once: lists of side-band records by kind, each ordered by time
// (records of equal time keep their order in the file), and the positions of each AUX buffer's
// trace bytes. Format: tools/perf/Documentation/perf.data-file-format.txt. Every length is checked
// against the enclosing data before use. A file with a wrong length yields an Error with the offset
// of the wrong record.
#pragma once

#include "base/error.hpp"
#include "perfdata/contents/records.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/contents/time_conversion.hpp"
#include "perfdata/records/sample_view.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::perfdata {

class Recording {
public:
  // Opens a perf.data file. Neither trace nor samples are required; callers check what they need.
  // Errors: not_found, no_rights, unsupported (big-endian, pipe mode, a newer header), bad_input
  // (empty, not a perf.data, truncated; with offset and remedy).
  static Result<Recording> open(const std::string& path);
  // Returns a recording without a file: its records, ordered by time, come from another format.
  // `path` names it. It has neither trace nor samples.
  static Recording from(std::string path, SideBand side_band);

  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::uint64_t file_size() const;

  [[nodiscard]] std::span<const Attribute> attributes() const;
  [[nodiscard]] std::span<const Mapping> mappings() const;
  [[nodiscard]] std::span<const ThreadName> thread_names() const;
  [[nodiscard]] std::span<const ThreadStart> thread_starts() const;
  [[nodiscard]] std::span<const ThreadExit> thread_exits() const;
  [[nodiscard]] std::span<const Switch> switches() const;
  // Returns true where the kernel wrote each switch of the recorded threads. There may be none.
  [[nodiscard]] bool switches_recorded() const;
  [[nodiscard]] std::span<const AuxWrite> aux_writes() const;
  [[nodiscard]] std::span<const TraceStart> trace_starts() const;
  [[nodiscard]] std::span<const Lost> lost() const;
  [[nodiscard]] std::span<const KernelSymbol> kernel_symbols() const;
  [[nodiscard]] std::span<const TextPoke> text_pokes() const;
  [[nodiscard]] std::span<const AuxTraceError> trace_errors() const;
  [[nodiscard]] SampleView samples() const;
  // Calls `visit` with each sample, in order of time, until it returns false. Releases the memory
  // of samples that were visited.
  void each_sample(const std::function<bool(const Sample&)>& visit) const;
  [[nodiscard]] std::span<const AuxBuffer> aux_buffers() const;
  [[nodiscard]] std::span<const BuildIdEntry> build_ids() const;

  [[nodiscard]] const std::optional<IntelPtInfo>& intel_pt() const;
  [[nodiscard]] const TimeConversion& time_conversion() const;
  [[nodiscard]] const std::string& hostname() const; // empty where the file has none
  [[nodiscard]] const std::string& cpu_id() const;   // HEADER_CPUID, "GenuineIntel,6,85,4"
  [[nodiscard]] const std::vector<std::string>& command_line() const;
  [[nodiscard]] std::uint64_t trace_bytes() const; // sum over all AUX chunks

  // Returns the bytes of one chunk, in the mapping. The chunk must come from aux_buffers().
  [[nodiscard]] std::span<const std::byte> bytes(const AuxChunk& chunk) const;
  // Releases memory, see MappedFile::forget. `bytes` must come from bytes().
  void forget(std::span<const std::byte> bytes) const;

  // Returns the number of records of each PERF_RECORD type, by type number.
  [[nodiscard]] std::span<const std::uint64_t> record_counts() const;

private:
  struct Contents;
  explicit Recording(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

} // namespace ptlens::perfdata
