#include "uftrace/info.hpp"

#include "perfdata/bytes/byte_reader.hpp"
#include "uftrace/text_file.hpp"

#include <fmt/format.h>

#include <string_view>

namespace ptlens::uftrace {
namespace {

constexpr std::uint64_t magic = 0x0021656361727446; // "Ftrace!\0"
constexpr std::uint64_t header_size = 40;
constexpr std::uint32_t oldest_version = 3;
constexpr std::uint32_t newest_version = 4;
constexpr std::uint8_t little_endian = 1; // ELFDATA2LSB
constexpr std::uint8_t class_64 = 2;      // ELFCLASS64

// enum uftrace_feat_bits
constexpr unsigned feature_plthook = 0;
constexpr unsigned feature_kernel = 2;
constexpr unsigned feature_relative_symbols = 5;
constexpr unsigned feature_perf_event = 8;
constexpr unsigned feature_estimate_return = 11;

Error unsupported(const std::string& path, std::uint64_t offset, std::string message,
                  std::string remedy) {
  return {.kind = Error::Kind::unsupported,
          .message = std::move(message),
          .file = path,
          .offset = offset,
          .remedy = std::move(remedy)};
}

void read_line(std::string_view line, Info& info) {
  const auto take = [line](std::string_view name, std::string& value) {
    if (line.starts_with(name)) {
      value = line.substr(name.size());
    }
  };
  take("exename:", info.program);
  take("cmdline:", info.command_line);
  take("osinfo:hostname=", info.hostname);
  take("uftrace_version:", info.uftrace_version);
}

} // namespace

Result<Info> read_info(const std::string& path) {
  const auto text = read_text(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  perfdata::ByteReader reader(std::as_bytes(std::span(*text)));
  if (reader.read<std::uint64_t>() != magic) {
    return std::unexpected(damaged(path, 0, "this is not the info file of a uftrace recording"));
  }
  Info info;
  info.version = reader.read<std::uint32_t>();
  const auto written_size = reader.read<std::uint16_t>();
  const auto byte_order = reader.read<std::uint8_t>();
  const auto elf_class = reader.read<std::uint8_t>();
  const auto features = reader.read<std::uint64_t>();
  reader.skip(2 * sizeof(std::uint64_t)); // the mask of the lines; the depth of the stack
  if (reader.failed()) {
    return std::unexpected(
        damaged(path, text->size(),
                fmt::format("the header has {} of {} bytes", text->size(), header_size)));
  }
  if (byte_order != little_endian) {
    return std::unexpected(unsupported(path, 14, "the recording is from a big-endian machine",
                                       "open it with uftrace on a machine of that kind"));
  }
  if (info.version < oldest_version || info.version > newest_version) {
    return std::unexpected(
        unsupported(path, 8,
                    fmt::format("the recording has version {} of uftrace's format, and this ptlens "
                                "reads versions {} to {}",
                                info.version, oldest_version, newest_version),
                    "record with another version of uftrace"));
  }
  if (elf_class != class_64) {
    return std::unexpected(unsupported(path, 15, "the recorded program is not a 64-bit program",
                                       "measure a 64-bit build of it"));
  }
  if (written_size < header_size || written_size > text->size()) {
    return std::unexpected(
        damaged(path, 12, fmt::format("the header's size, {} bytes, is wrong", written_size)));
  }
  const auto has = [features](unsigned bit) { return (features >> bit & 1U) != 0; };
  info.library_calls = has(feature_plthook);
  info.kernel = has(feature_kernel);
  info.relative_symbols = has(feature_relative_symbols);
  info.scheduling = has(feature_perf_event);
  info.estimated_returns = has(feature_estimate_return);
  each_line(std::string_view(*text).substr(written_size), [&](std::string_view line, std::size_t) {
    read_line(line, info);
    return true;
  });
  return info;
}

} // namespace ptlens::uftrace
