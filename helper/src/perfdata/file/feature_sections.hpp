// The feature sections that later stages need: build-ids, host name, CPU, command line and the
// names of the events. Format: perf.data-file-format.txt.
#pragma once

#include "base/error.hpp"
#include "perfdata/contents/side_band.hpp"
#include "perfdata/file/file_header.hpp"
#include "perfdata/records/attribute_table.hpp"

#include <span>

namespace ptlens::perfdata {

// Errors: bad_input at a section that is shorter than its contents.
[[nodiscard]] Result<void> read_feature_sections(std::span<const std::byte> file,
                                                 const FileHeader& header,
                                                 AttributeTable& attributes, SideBand& side_band);

// Reads the attribute section after the header, with the ids that it points to. Errors: bad_input.
[[nodiscard]] Result<void> read_attribute_section(std::span<const std::byte> file,
                                                  const FileHeader& header,
                                                  AttributeTable& attributes);

} // namespace ptlens::perfdata
