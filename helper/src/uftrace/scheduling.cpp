#include "uftrace/scheduling.hpp"

#include "perfdata/bytes/byte_reader.hpp"
#include "perfdata/bytes/mapped_file.hpp"
#include "perfdata/bytes/raw_record.hpp"
#include "uftrace/text_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <linux/perf_event.h>
#include <system_error>

namespace ptlens::uftrace {
namespace {

constexpr std::uint64_t trailer_size = 16;

// Reads one record. Returns false where it is shorter than its fields.
bool read_record(std::uint32_t type, std::uint16_t misc, std::span<const std::byte> payload,
                 std::int32_t cpu, perfdata::SideBand& side_band) {
  if (payload.size() < trailer_size) {
    return false;
  }
  perfdata::ByteReader trailer(payload.last(trailer_size));
  const auto pid = trailer.read<std::int32_t>();
  const auto tid = trailer.read<std::int32_t>();
  const auto time_ns = trailer.read<std::uint64_t>();
  perfdata::ByteReader fields(payload.first(payload.size() - trailer_size));
  side_band.switches_recorded = true;
  switch (type) {
  case PERF_RECORD_SWITCH:
    side_band.switches.push_back({.time_ns = time_ns,
                                  .pid = pid,
                                  .tid = tid,
                                  .cpu = cpu,
                                  .out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0,
                                  .preempted = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0});
    return true;
  case PERF_RECORD_EXIT: {
    perfdata::ThreadExit exit;
    exit.time_ns = time_ns;
    exit.pid = fields.read<std::int32_t>();
    fields.skip(sizeof(std::int32_t)); // parent
    exit.tid = fields.read<std::int32_t>();
    side_band.thread_exits.push_back(exit);
    return !fields.failed();
  }
  case PERF_RECORD_COMM: {
    perfdata::ThreadName name;
    name.time_ns = time_ns;
    name.pid = fields.read<std::int32_t>();
    name.tid = fields.read<std::int32_t>();
    name.name = fields.rest_as_text();
    name.exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    side_band.thread_names.push_back(std::move(name));
    return !fields.failed();
  }
  case PERF_RECORD_LOST:
    fields.skip(sizeof(std::uint64_t)); // the event's id
    side_band.lost.push_back(
        {.time_ns = time_ns, .tid = tid, .cpu = cpu, .count = fields.read<std::uint64_t>()});
    return !fields.failed();
  default:
    return true;
  }
}

} // namespace

Result<void> read_scheduling(const std::string& path, std::int32_t cpu,
                             perfdata::SideBand& side_band) {
  std::error_code failed;
  if (std::filesystem::file_size(path, failed) == 0 && !failed) {
    return {}; // the program did not run on this CPU
  }
  const auto file = perfdata::MappedFile::open(path);
  if (!file) {
    return std::unexpected(file.error());
  }
  const auto bytes = file->bytes();
  for (std::uint64_t offset = 0; offset < bytes.size();) {
    perfdata::ByteReader header(bytes.subspan(offset));
    const auto type = header.read<std::uint32_t>();
    const auto misc = header.read<std::uint16_t>();
    const auto size = header.read<std::uint16_t>();
    if (header.failed() || size < perfdata::record_header_size || size > bytes.size() - offset) {
      return std::unexpected(
          damaged(path, offset,
                  header.failed() ? "the last record is cut off"
                                  : fmt::format("a record of {} bytes does not fit: {} remain",
                                                size, bytes.size() - offset)));
    }
    const auto payload =
        bytes.subspan(offset + perfdata::record_header_size, size - perfdata::record_header_size);
    if (!read_record(type, misc, payload, cpu, side_band)) {
      return std::unexpected(damaged(
          path, offset,
          fmt::format("a record {} is shorter than its fields", perfdata::record_name(type))));
    }
    offset += size;
  }
  return {};
}

} // namespace ptlens::uftrace
