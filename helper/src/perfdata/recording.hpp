// A perf.data file, mapped and read once: side-band records by kind, each list ordered by time
// (records of equal time keep their order in the file), and where the trace bytes of each AUX
// buffer are. Format: tools/perf/Documentation/perf.data-file-format.txt. Every length is checked
// against what encloses it before use; a file that lies about itself yields an Error with the
// offset of the record that lies.
#pragma once

#include "base/error.hpp"
#include "perfdata/contents/records.hpp"
#include "perfdata/contents/time_conversion.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::perfdata {

class Recording {
public:
  // Opens a perf.data file. A recording needs neither trace nor samples to open: callers say what
  // they need. Errors: not_found, no_rights, unsupported (big-endian, pipe mode, a newer header),
  // bad_input (empty, not a perf.data, truncated: offset and remedy included).
  static Result<Recording> open(const std::string& path);

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
  [[nodiscard]] std::span<const AuxWrite> aux_writes() const;
  [[nodiscard]] std::span<const TraceStart> trace_starts() const;
  [[nodiscard]] std::span<const Lost> lost() const;
  [[nodiscard]] std::span<const KernelSymbol> kernel_symbols() const;
  [[nodiscard]] std::span<const TextPoke> text_pokes() const;
  [[nodiscard]] std::span<const AuxTraceError> trace_errors() const;
  [[nodiscard]] std::span<const Sample> samples() const;
  [[nodiscard]] std::span<const AuxBuffer> aux_buffers() const;
  [[nodiscard]] std::span<const BuildIdEntry> build_ids() const;

  [[nodiscard]] const std::optional<IntelPtInfo>& intel_pt() const;
  [[nodiscard]] const TimeConversion& time_conversion() const;
  [[nodiscard]] const std::string& hostname() const; // empty where the file does not say
  [[nodiscard]] const std::string& cpu_id() const;   // HEADER_CPUID, "GenuineIntel,6,85,4"
  [[nodiscard]] const std::vector<std::string>& command_line() const;
  [[nodiscard]] std::uint64_t trace_bytes() const; // sum over all AUX chunks

  // The bytes of one chunk, in the mapping. The chunk must come from aux_buffers().
  [[nodiscard]] std::span<const std::byte> bytes(const AuxChunk& chunk) const;
  // See MappedFile; of what bytes() gave.
  void forget(std::span<const std::byte> bytes) const;

  // How many records of each PERF_RECORD type the file holds, by number.
  [[nodiscard]] std::span<const std::uint64_t> record_counts() const;

private:
  struct Contents;
  explicit Recording(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

} // namespace ptlens::perfdata
