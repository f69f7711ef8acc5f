// The records that the kernel defines (enum perf_event_type of <linux/perf_event.h>). perf writes
// some of them too, for what was there before it started.
#pragma once

#include "base/error.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/records/attribute_table.hpp"

namespace ptlens::perfdata {

// Adds what the record says to `side_band`; records of kinds that no stage needs are passed over.
// Errors: bad_input where the record is shorter than its fields.
[[nodiscard]] Result<void>
read_kernel_record(const Record& record, const AttributeTable& attributes, SideBand& side_band);

} // namespace ptlens::perfdata
