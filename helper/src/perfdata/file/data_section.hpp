// A walk over the data section: from record to record, over the trace bytes after AUXTRACE records,
// and into compressed records.
#pragma once

#include "base/error.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/file/file_header.hpp"
#include "perfdata/records/attribute_table.hpp"
#include "perfdata/records/aux_chunks.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace ptlens::perfdata {

using Forget = std::function<void(std::span<const std::byte>)>;

// Reads all records, and calls `forget` with ranges that were read. Where perf was killed
// (header.unfinished), the last record may be incomplete and is then left out. Errors: bad_input at
// the record that does not fit.
[[nodiscard]] Result<void> read_data_section(std::span<const std::byte> file,
                                             const FileHeader& header, AttributeTable& attributes,
                                             SideBand& side_band, AuxChunks& aux_chunks,
                                             const Forget& forget);

} // namespace ptlens::perfdata
