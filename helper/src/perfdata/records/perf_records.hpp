// The records that perf adds to the kernel's (tools/lib/perf/include/perf/event.h). Records that
// are followed by further bytes, such as AUXTRACE, are read in data_section.
#pragma once

#include "base/error.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/records/attribute_table.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::perfdata {

// Adds the record. Ignores kinds that no stage needs. Errors: bad_input where the record is shorter
// than its fields or a value is impossible.
[[nodiscard]] Result<void> read_perf_record(const Record& record, AttributeTable& attributes,
                                            SideBand& side_band);

// Reads a struct build_id_event after its record header. Returns nothing where it is too short.
[[nodiscard]] std::optional<BuildIdEntry> read_build_id(std::uint16_t misc,
                                                        std::span<const std::byte> payload);

} // namespace ptlens::perfdata
