// Frame descriptions by libdw; the encoding of their first two fields is given by their CIE's
// augmentation (Linux Standard Base Core, section 10.6, "Exception Frames").
#include "symbols/unwind_table.hpp"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

namespace ptlens::symbols {

namespace {

// Reads fixed-size fields of an FDE, which lies in `data`.
class FieldReader {
public:
  FieldReader(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

  // The value of one field, sign-extended where its format says so.
  std::optional<std::uint64_t> read(std::uint8_t format, bool is_64_bit) {
    switch (format) {
    case DW_EH_PE_absptr:
      return is_64_bit ? read_as<std::uint64_t>() : read_as<std::uint32_t>();
    case DW_EH_PE_udata2:
      return read_as<std::uint16_t>();
    case DW_EH_PE_udata4:
      return read_as<std::uint32_t>();
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return read_as<std::uint64_t>();
    case DW_EH_PE_sdata2:
      return read_as<std::int16_t>();
    case DW_EH_PE_sdata4:
      return read_as<std::int32_t>();
    default:
      return std::nullopt;
    }
  }

  [[nodiscard]] const std::uint8_t* at() const { return at_; }

private:
  template <class T>
  std::optional<std::uint64_t> read_as() {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(T)) {
      return std::nullopt;
    }
    T value = {};
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// DW_EH_PE encoding of the addresses in the FDEs of a CIE: what 'R' of its augmentation "z..."
// names.
std::optional<std::uint8_t> address_encoding(const Dwarf_CIE& cie) {
  const std::string_view augmentation(cie.augmentation);
  if (augmentation.empty()) {
    return DW_EH_PE_absptr;
  }
  if (!augmentation.starts_with('z')) {
    return std::nullopt;
  }
  std::size_t at = 0;
  for (const char letter : augmentation.substr(1)) {
    if (at >= cie.augmentation_data_size) {
      break;
    }
    const std::uint8_t byte = cie.augmentation_data[at];
    switch (letter) {
    case 'R':
      return byte;
    case 'L':
      at += 1;
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
  return DW_EH_PE_absptr;
}

std::optional<AddressRange> range_of(const Dwarf_FDE& fde, std::uint8_t encoding,
                                     std::uint64_t section_address, const Elf_Data& data,
                                     bool is_64_bit) {
  constexpr std::uint8_t format_mask = 0x0f;
  constexpr std::uint8_t application_mask = 0x70;
  const auto* base = static_cast<const std::uint8_t*>(data.d_buf);
  FieldReader reader(fde.start, fde.end);
  const std::optional<std::uint64_t> low = reader.read(encoding & format_mask, is_64_bit);
  // The length is an unsigned number of the same size.
  constexpr std::uint8_t unsigned_mask = 0x07;
  const std::optional<std::uint64_t> length = reader.read(encoding & unsigned_mask, is_64_bit);
  if (!low || !length) {
    return std::nullopt;
  }
  std::uint64_t start = *low;
  if ((encoding & application_mask) == DW_EH_PE_pcrel) {
    start += section_address + static_cast<std::uint64_t>(fde.start - base);
  } else if ((encoding & application_mask) != 0) {
    return std::nullopt;
  }
  if (!is_64_bit) {
    start &= UINT32_MAX;
  }
  return AddressRange{.low = start, .high = start + *length};
}

} // namespace

std::vector<AddressRange> read_unwind_ranges(Elf* elf, const ElfImage& image) {
  std::vector<AddressRange> ranges;
  const Section* section = image.section(".eh_frame");
  if (section == nullptr || section->type == SHT_NOBITS) {
    return ranges;
  }
  Elf_Data* data = elf_getdata(elf_getscn(elf, section->index), nullptr);
  std::size_t identity_size = 0;
  const char* identity = elf_getident(elf, &identity_size);
  if (data == nullptr || data->d_buf == nullptr || identity == nullptr ||
      identity_size < EI_NIDENT) {
    return ranges;
  }
  const auto* e_ident = reinterpret_cast<const unsigned char*>(identity);
  std::map<Dwarf_Off, std::optional<std::uint8_t>> encodings; // by offset of the CIE
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  Dwarf_CFI_Entry entry = {};
  int status = 0;
  while ((status = dwarf_next_cfi(e_ident, data, true, offset, &next, &entry)) == 0 &&
         next > offset) {
    if (dwarf_cfi_cie_p(&entry)) {
      encodings.insert_or_assign(offset, address_encoding(entry.cie));
    } else if (const auto found = encodings.find(entry.fde.CIE_pointer);
               found != encodings.end() && found->second) {
      const std::optional<AddressRange> range =
          range_of(entry.fde, *found->second, section->address, *data, image.is_64_bit());
      const Section* code = range ? image.code_section(range->low) : nullptr;
      if (code != nullptr && range->high > range->low && range->high <= code->end()) {
        ranges.push_back(*range);
      }
    }
    offset = next;
  }
  std::ranges::sort(ranges, {}, &AddressRange::low);
  return ranges;
}

} // namespace ptlens::symbols
