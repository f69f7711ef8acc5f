// Which trace bytes of the file belong to which AUX buffer: PERF_RECORD_AUXTRACE, each followed by
// the bytes it announces, grouped by its idx.
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
  std::uint64_t size = 0; // bytes of trace behind the record
  std::uint64_t offset = 0;
  std::uint64_t reference = 0;
  std::uint32_t index = 0;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
};

// None where the payload is too short.
[[nodiscard]] std::optional<AuxTraceHeader> read_auxtrace(std::span<const std::byte> payload);

class AuxChunks {
public:
  // `trace_offset` is where in the file the bytes behind the record begin. Errors: bad_input where
  // the record contradicts an earlier one of the same buffer.
  [[nodiscard]] Result<void> add(const Record& record, const AuxTraceHeader& header,
                                 std::uint64_t trace_offset);

  // Ordered by index, chunks by their place in the buffer. Leaves this object empty.
  [[nodiscard]] std::vector<AuxBuffer> take();

private:
  std::map<std::uint32_t, AuxBuffer> buffers_;
};

} // namespace ptlens::perfdata
