// The records that perf itself adds to the kernel's (tools/lib/perf/include/perf/event.h). Those
// that are followed by bytes of their own, AUXTRACE among them, are in data_section.
#pragma once

#include "base/error.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/records/attribute_table.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::perfdata {

// Adds what the record says; records of kinds that no stage needs are passed over. Errors:
// bad_input where the record is shorter than its fields or a value is impossible.
[[nodiscard]] Result<void> read_perf_record(const Record& record, AttributeTable& attributes,
                                            SideBand& side_band);

// struct build_id_event behind its record header; none where it is too short.
[[nodiscard]] std::optional<BuildIdEntry> read_build_id(std::uint16_t misc,
                                                        std::span<const std::byte> payload);

} // namespace ptlens::perfdata
