// Frame descriptions, read by libdw. The augmentation of their CIE gives the encoding of their
// addresses (Linux Standard Base Core, section 10.6, "Exception Frames").
#include "symbols/elf/unwind_table.hpp"

#include "symbols/elf/encoded_reader.hpp"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace ptlens::symbols {

namespace {

struct Encodings {
  std::uint8_t address = DW_EH_PE_absptr;       // 'R'
  std::uint8_t exception_table = DW_EH_PE_omit; // 'L'
  bool has_augmentation_length = false;         // 'z'
};

// Returns the encodings in the augmentation of a CIE; nothing where the augmentation is unknown.
std::optional<Encodings> encodings_of(const Dwarf_CIE& cie) {
  const std::string_view augmentation(cie.augmentation);
  Encodings encodings;
  if (augmentation.empty()) {
    return encodings;
  }
  if (!augmentation.starts_with('z')) {
    return std::nullopt;
  }
  encodings.has_augmentation_length = true;
  std::size_t at = 0;
  for (const char letter : augmentation.substr(1)) {
    if (at >= cie.augmentation_data_size) {
      break;
    }
    const std::uint8_t byte = cie.augmentation_data[at];
    switch (letter) {
    case 'R':
      encodings.address = byte;
      ++at;
      break;
    case 'L':
      encodings.exception_table = byte;
      ++at;
      break;
    case 'P': {
      constexpr std::uint8_t format_mask = 0x07;
      static constexpr std::size_t sizes[] = {8, 0, 2, 4, 8, 0, 0, 0};
      const std::size_t size = sizes[byte & format_mask];
      if (size == 0) {
        return std::nullopt;
      }
      at += 1 + size;
      break;
    }
    default:
      break;
    }
  }
  return encodings;
}

std::optional<FrameDescription> describe(const Dwarf_FDE& fde, const Encodings& encodings,
                                         std::uint64_t section_address, const Elf_Data& data,
                                         bool is_64_bit) {
  constexpr std::uint8_t unsigned_mask = 0x07; // the length is an unsigned number of the same size
  const auto* base = static_cast<const std::uint8_t*>(data.d_buf);
  EncodedReader reader(std::span(fde.start, fde.end),
                       section_address + static_cast<std::uint64_t>(fde.start - base), is_64_bit);
  const std::optional<std::uint64_t> low = reader.address(encodings.address);
  const std::optional<std::uint64_t> length = reader.number(encodings.address & unsigned_mask);
  if (!low || !length) {
    return std::nullopt;
  }
  FrameDescription description{.code = {.low = *low, .high = *low + *length}};
  if (encodings.has_augmentation_length && encodings.exception_table != DW_EH_PE_omit &&
      reader.uleb128().value_or(0) > 0) {
    description.exception_table = reader.address(encodings.exception_table).value_or(0);
  }
  return description;
}

} // namespace

std::vector<FrameDescription> read_frame_descriptions(Elf* elf, const ElfImage& image) {
  std::vector<FrameDescription> descriptions;
  const Section* section = image.section(".eh_frame");
  if (section == nullptr || section->type == SHT_NOBITS) {
    return descriptions;
  }
  Elf_Data* data = elf_getdata(elf_getscn(elf, section->index), nullptr);
  std::size_t identity_size = 0;
  const char* identity = elf_getident(elf, &identity_size);
  if (data == nullptr || data->d_buf == nullptr || identity == nullptr ||
      identity_size < EI_NIDENT) {
    return descriptions;
  }
  const auto* e_ident = reinterpret_cast<const unsigned char*>(identity);
  std::map<Dwarf_Off, std::optional<Encodings>> encodings; // by offset of the CIE
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  Dwarf_CFI_Entry entry = {};
  int status = 0;
  while ((status = dwarf_next_cfi(e_ident, data, true, offset, &next, &entry)) == 0 &&
         next > offset) {
    if (dwarf_cfi_cie_p(&entry)) {
      encodings.insert_or_assign(offset, encodings_of(entry.cie));
    } else if (const auto found = encodings.find(entry.fde.CIE_pointer);
               found != encodings.end() && found->second) {
      const std::optional<FrameDescription> description =
          describe(entry.fde, *found->second, section->address, *data, image.is_64_bit());
      const Section* code = description ? image.code_section(description->code.low) : nullptr;
      if (code != nullptr && description->code.high > description->code.low &&
          description->code.high <= code->end()) {
        descriptions.push_back(*description);
      }
    }
    offset = next;
  }
  std::ranges::sort(descriptions, {},
                    [](const FrameDescription& description) { return description.code.low; });
  return descriptions;
}

std::vector<AddressRange> read_unwind_ranges(Elf* elf, const ElfImage& image) {
  std::vector<AddressRange> ranges;
  for (const FrameDescription& description : read_frame_descriptions(elf, image)) {
    ranges.push_back(description.code);
  }
  return ranges;
}

} // namespace ptlens::symbols
