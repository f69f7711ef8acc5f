// The file header and the feature table.
#include "perfdata/file/file_header.hpp"

#include "perfdata/bytes/byte_reader.hpp"
#include "perfdata/bytes/raw_record.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>

namespace ptlens::perfdata {

namespace {

constexpr std::uint64_t header_size = 104;
constexpr std::uint64_t pipe_header_size = 16;
constexpr std::uint64_t section_size = 16;       // u64 offset, u64 size
constexpr std::uint64_t smallest_attribute = 64; // PERF_ATTR_SIZE_VER0

Error unsupported(const std::string& what, const std::string& remedy) {
  return {
      .kind = Error::Kind::unsupported, .message = what, .file = {}, .offset = 0, .remedy = remedy};
}

Result<void> check_magic(std::string_view magic) {
  if (magic == "PERFILE2") {
    return {};
  }
  if (magic == "2ELIFREP") {
    return std::unexpected(unsupported(
        "the recording was made on a big-endian machine; PT Lens reads little-endian ones only",
        "record on an x86-64 machine"));
  }
  if (magic == "PERFFILE") {
    return std::unexpected(unsupported("the recording has the file format of perf before 2010",
                                       "record again with a current perf"));
  }
  return std::unexpected(Error{.kind = Error::Kind::bad_input,
                               .message = "this is not a perf.data file",
                               .file = {},
                               .offset = 0,
                               .remedy = "pass a file that perf record wrote"});
}

Section read_section(ByteReader& reader) {
  Section section;
  section.offset = reader.read<std::uint64_t>();
  section.size = reader.read<std::uint64_t>();
  return section;
}

Result<void> check_inside(const Section& section, std::uint64_t file_size,
                          const std::string& name) {
  if (section.size != 0 &&
      (section.offset > file_size || section.size > file_size - section.offset)) {
    return std::unexpected(
        truncated(file_size, fmt::format("{} of {:#x} bytes at {:#x} extends beyond its end", name,
                                         section.size, section.offset)));
  }
  return {};
}

Result<void> read_feature_table(std::span<const std::byte> file,
                                const std::array<std::uint64_t, 4>& flags, FileHeader& header) {
  const std::uint64_t table = header.data.offset + header.data.size;
  ByteReader reader(file.subspan(table));
  for (std::uint32_t bit = 0; bit < 64 * flags.size(); ++bit) {
    if (((flags[bit / 64] >> (bit % 64)) & 1U) == 0) {
      continue;
    }
    const Section section = read_section(reader);
    if (reader.failed()) {
      return std::unexpected(
          truncated(file.size(), "the table of its feature sections is incomplete"));
    }
    if (auto inside = check_inside(section, file.size(), fmt::format("feature section {}", bit));
        !inside) {
      return inside;
    }
    header.features.emplace(bit, section);
  }
  return {};
}

} // namespace

Result<FileHeader> read_file_header(std::span<const std::byte> file) {
  ByteReader reader(file);
  const std::string_view magic = reader.text(8);
  if (reader.failed()) {
    ByteReader start(file);
    if (std::string_view("PERFILE2").starts_with(start.rest_as_text())) {
      return std::unexpected(truncated(file.size(), "it ends within its header"));
    }
    return std::unexpected(check_magic({}).error());
  }
  if (auto known = check_magic(magic); !known) {
    return std::unexpected(known.error());
  }
  const auto size = reader.read<std::uint64_t>();
  if (!reader.failed() && size == pipe_header_size) {
    return std::unexpected(
        unsupported("the recording was written to a pipe, which uses a different format",
                    "record with perf record -o FILE, or convert it: perf inject -i OLD -o NEW"));
  }
  if (!reader.failed() && size != header_size) {
    return std::unexpected(unsupported(
        fmt::format("its header has {} bytes; this version of PT Lens knows {}", size, header_size),
        "record with a perf of version 3 to 6, or update PT Lens"));
  }
  FileHeader header;
  header.attribute_entry_size = reader.read<std::uint64_t>();
  header.attributes = read_section(reader);
  header.data = read_section(reader);
  reader.skip(section_size); // event types, unused since 2013
  std::array<std::uint64_t, 4> flags{};
  for (std::uint64_t& word : flags) {
    word = reader.read<std::uint64_t>();
  }
  if (reader.failed()) {
    return std::unexpected(truncated(file.size(), "it ends within its header"));
  }
  if (auto inside = check_inside(header.attributes, file.size(), "the attribute section");
      !inside) {
    return std::unexpected(inside.error());
  }
  if (header.attributes.size != 0 &&
      (header.attribute_entry_size < smallest_attribute + section_size ||
       header.attributes.size % header.attribute_entry_size != 0)) {
    return std::unexpected(
        malformed(pipe_header_size,
                  fmt::format("attribute entries of {} bytes do not fill a section of {} bytes",
                              header.attribute_entry_size, header.attributes.size)));
  }
  if (header.data.size == 0) {
    if (header.data.offset > file.size()) {
      return std::unexpected(truncated(file.size(), "it ends before its data section"));
    }
    header.unfinished = true;
    header.data.size = file.size() - header.data.offset;
    return header;
  }
  if (auto inside = check_inside(header.data, file.size(), "the data section"); !inside) {
    return std::unexpected(inside.error());
  }
  if (auto table = read_feature_table(file, flags, header); !table) {
    return std::unexpected(table.error());
  }
  return header;
}

} // namespace ptlens::perfdata
