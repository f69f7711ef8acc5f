// The records that the kernel defines (enum perf_event_type of <linux/perf_event.h>). perf also
// writes some of them, for the state before the recording started.
#pragma once

#include "base/error.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/records/attribute_table.hpp"

namespace ptlens::perfdata {

// Adds the record to `side_band`. Ignores kinds that no stage needs. Errors: bad_input where the
// record is shorter than its fields.
[[nodiscard]] Result<void>
read_kernel_record(const Record& record, const AttributeTable& attributes, SideBand& side_band);

} // namespace ptlens::perfdata
