// The trace bytes of each AUX buffer in the file: PERF_RECORD_AUXTRACE records, each followed by
// its trace bytes, grouped by idx.
#pragma once

#include "base/error.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/contents/records.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::perfdata {

struct AuxTraceHeader {   // fields of PERF_RECORD_AUXTRACE
  std::uint64_t size = 0; // bytes of trace after the record
  std::uint64_t offset = 0;
  std::uint64_t reference = 0;
  std::uint32_t index = 0;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
};

// Returns nothing where the payload is too short.
[[nodiscard]] std::optional<AuxTraceHeader> read_auxtrace(std::span<const std::byte> payload);

class AuxChunks {
public:
  // Adds a chunk. `trace_offset` is the position in the file of the bytes after the record. Errors:
  // bad_input where the record contradicts an earlier one of the same buffer.
  [[nodiscard]] Result<void> add(const Record& record, const AuxTraceHeader& header,
                                 std::uint64_t trace_offset);

  // Returns the buffers ordered by index, their chunks by position. Leaves this object empty.
  [[nodiscard]] std::vector<AuxBuffer> take();

private:
  std::map<std::uint32_t, AuxBuffer> buffers_;
};

} // namespace ptlens::perfdata
