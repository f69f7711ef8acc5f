// A call-site table has a header, then entries of start, length, landing pad and action, relative
// to the function (Itanium C++ ABI, "Exception Handling Tables", 4.1; GCC
// libsupc++/eh_personality.cc).
#include "symbols/elf/landing_pads.hpp"

#include "symbols/elf/encoded_reader.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace ptlens::symbols {

namespace {

// Returns the bytes from the table to the end of its section.
std::vector<std::byte> table_bytes(const ElfImage& image, std::uint64_t address) {
  constexpr std::uint64_t longest = 1U << 20U;
  const auto has_table = [address](const Section& section) {
    return (section.flags & SHF_ALLOC) != 0 && section.contains(address);
  };
  const auto section = std::ranges::find_if(image.sections(), has_table);
  if (section == image.sections().end()) {
    return {};
  }
  return image.data_at(address, std::min(section->end() - address, longest))
      .value_or(std::vector<std::byte>());
}

// Searches a call-site table for `address`. `reader` is at the start of the table of the function
// that begins at `function`.
std::optional<std::uint64_t> find_in_table(EncodedReader reader, std::uint64_t function,
                                           std::uint64_t address) {
  std::uint64_t base = function; // base of landing pads
  const auto base_encoding = reader.byte();
  if (!base_encoding) {
    return std::nullopt;
  }
  if (*base_encoding != DW_EH_PE_omit) {
    const auto other = reader.address(*base_encoding);
    if (!other) {
      return std::nullopt;
    }
    base = *other;
  }
  const auto type_encoding = reader.byte();
  if (!type_encoding || (*type_encoding != DW_EH_PE_omit && !reader.uleb128())) {
    return std::nullopt;
  }
  const auto encoding = reader.byte();
  const auto length = reader.uleb128();
  auto sites = encoding && length ? reader.first(*length) : std::nullopt;
  while (sites && !sites->at_end()) {
    const auto start = sites->number(*encoding);
    const auto size = sites->number(*encoding);
    const auto pad = sites->number(*encoding);
    const auto action = sites->uleb128();
    if (!start || !size || !pad || !action || address - function < *start) {
      return std::nullopt; // entries are in order
    }
    if (address - function - *start < *size) {
      return *pad == 0 ? std::nullopt : std::optional(base + *pad);
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<std::uint64_t> landing_pad(const ElfImage& image,
                                         std::span<const FrameDescription> descriptions,
                                         std::uint64_t return_address) {
  if (return_address == 0) {
    return std::nullopt;
  }
  const std::uint64_t address = return_address - 1; // within the call
  const auto after =
      std::ranges::upper_bound(descriptions, address, {}, [](const FrameDescription& description) {
        return description.code.low;
      });
  if (after == descriptions.begin() || std::prev(after)->code.high <= address ||
      std::prev(after)->exception_table == 0) {
    return std::nullopt;
  }
  const FrameDescription& description = *std::prev(after);
  const std::vector<std::byte> bytes = table_bytes(image, description.exception_table);
  const std::span<const std::uint8_t> table(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            bytes.size());
  return find_in_table(EncodedReader(table, description.exception_table, image.is_64_bit()),
                       description.code.low, address);
}

} // namespace ptlens::symbols
