// perf's address filters: "filter FUNC @ BINARY", "filter ADDR/SIZE @ BINARY" (perf-record(1),
// --filter). They select the bytes of files that are traced.
#pragma once

#include "base/error.hpp"
#include "code/mappings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::ptsim {

struct AddressFilter {
  std::uint64_t offset = 0; // in the file
  std::uint64_t size = 0;   // bytes
  std::string path;
};

struct AddressRange { // [begin, end)
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= begin && address < end;
  }
};

// The filters of the option's text, separated by spaces or commas. A function is its symbol's
// whole range; a numeric address is an offset in the file, as for the kernel. Errors: bad_input,
// not_found, unsupported (start, stop, tracestop, filters without a binary).
Result<std::vector<AddressFilter>> parse_filters(const std::string& text);

// Returns the text that perf passes to the kernel and writes to AUXTRACE_INFO: "filter
// 0x1139/0x2a@/path/to/binary".
[[nodiscard]] std::string resolved_text(const std::vector<AddressFilter>& filters);

// Returns the address ranges of the filters in a process with these mappings.
[[nodiscard]] std::vector<AddressRange> address_ranges(const std::vector<AddressFilter>& filters,
                                                       const std::vector<Mapping>& mappings);

} // namespace ptlens::ptsim
