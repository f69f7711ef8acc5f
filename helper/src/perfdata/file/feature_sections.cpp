// Reading of feature sections and of the attribute section.
#include "perfdata/file/feature_sections.hpp"

#include "perfdata/bytes/byte_reader.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "perfdata/records/perf_records.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptlens::perfdata {

namespace {

// Reads a struct perf_header_string: u32 length of a field with text that is padded with NUL.
std::string_view read_string(ByteReader& reader) {
  return reader.text(reader.read<std::uint32_t>());
}

void read_command_line(ByteReader& reader, SideBand& side_band) {
  const auto count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    side_band.command_line.emplace_back(read_string(reader));
  }
}

void read_event_descriptions(ByteReader& reader, AttributeTable& attributes) {
  const auto count = reader.read<std::uint32_t>();
  const auto attribute_size = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    reader.skip(attribute_size);
    const auto id_count = reader.read<std::uint32_t>();
    const std::string_view name = read_string(reader);
    std::vector<std::uint64_t> ids;
    for (std::uint32_t id = 0; id < id_count && !reader.failed(); ++id) {
      ids.push_back(reader.read<std::uint64_t>());
    }
    if (!reader.failed()) {
      attributes.set_name(ids, i, name);
    }
  }
}

// Reads the section, a sequence of records without a count. Returns false where a record is
// incomplete.
bool read_build_ids(ByteReader& reader, SideBand& side_band) {
  while (reader.remaining() >= record_header_size) {
    reader.skip(sizeof(std::uint32_t)); // type
    const auto misc = reader.read<std::uint16_t>();
    const auto size = reader.read<std::uint16_t>();
    if (size < record_header_size) {
      return false;
    }
    auto entry = read_build_id(misc, reader.take(size - record_header_size));
    if (!entry) {
      return false;
    }
    side_band.build_ids.push_back(*std::move(entry));
  }
  return true;
}

} // namespace

Result<void> read_feature_sections(std::span<const std::byte> file, const FileHeader& header,
                                   AttributeTable& attributes, SideBand& side_band) {
  for (const auto& [bit, section] : header.features) {
    if (section.size == 0) {
      continue;
    }
    ByteReader reader(file.subspan(section.offset, section.size));
    bool whole = true;
    switch (bit) {
    case feature_build_id:
      whole = read_build_ids(reader, side_band);
      break;
    case feature_hostname:
      side_band.hostname = read_string(reader);
      break;
    case feature_cpuid:
      side_band.cpu_id = read_string(reader);
      break;
    case feature_cmdline:
      read_command_line(reader, side_band);
      break;
    case feature_event_desc:
      read_event_descriptions(reader, attributes);
      break;
    default:
      break;
    }
    if (!whole || reader.failed()) {
      return std::unexpected(malformed(
          section.offset, fmt::format("feature section {} is shorter than its contents", bit)));
    }
  }
  return {};
}

Result<void> read_attribute_section(std::span<const std::byte> file, const FileHeader& header,
                                    AttributeTable& attributes) {
  constexpr std::uint64_t ids_section_size = 2 * sizeof(std::uint64_t);
  // Sections of ids may overlap in a hostile file; together they must not be larger than the file.
  std::uint64_t ids_left = file.size() / sizeof(std::uint64_t);
  const Section& section = header.attributes;
  const std::uint64_t entry_size = header.attribute_entry_size;
  for (std::uint64_t entry = 0; entry < section.size; entry += entry_size) {
    const std::uint64_t offset = section.offset + entry;
    ByteReader reader(file.subspan(offset, entry_size));
    const auto attribute = reader.take(entry_size - ids_section_size);
    const auto ids_offset = reader.read<std::uint64_t>();
    const auto ids_size = reader.read<std::uint64_t>();
    const std::uint64_t count = ids_size / sizeof(std::uint64_t);
    if (ids_size != 0 && (ids_offset > file.size() || ids_size > file.size() - ids_offset)) {
      return std::unexpected(
          truncated(offset, fmt::format("{:#x} bytes of event ids at {:#x} are beyond its end",
                                        ids_size, ids_offset)));
    }
    if (count > ids_left) {
      return std::unexpected(malformed(offset, "the sections of event ids overlap"));
    }
    ids_left -= count;
    std::vector<std::uint64_t> ids(count);
    if (count != 0) {
      ByteReader ids_reader(file.subspan(ids_offset, ids_size));
      for (std::uint64_t& id : ids) {
        id = ids_reader.read<std::uint64_t>();
      }
    }
    if (!attributes.add(attribute, std::move(ids))) {
      return std::unexpected(malformed(offset, "an event attribute is larger than its entry"));
    }
  }
  return {};
}

} // namespace ptlens::perfdata
