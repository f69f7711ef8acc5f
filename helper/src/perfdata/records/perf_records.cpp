// Fields of perf's own records. AUXTRACE_INFO: in the order of the enum in
// tools/perf/util/intel-pt.h.
#include "perfdata/records/perf_records.hpp"

#include "perfdata/bytes/byte_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ptlens::perfdata {

namespace {

constexpr std::uint32_t auxtrace_intel_pt = 1; // PERF_AUXTRACE_INTEL_PT
constexpr std::uint64_t largest_time_shift = 63;
constexpr std::uint64_t largest_u32 = std::numeric_limits<std::uint32_t>::max();

enum IntelPtField : std::uint64_t { // index into AUXTRACE_INFO's u64 array
  pt_pmu_type,
  pt_time_shift,
  pt_time_mult,
  pt_time_zero,
  pt_cap_user_time_zero,
  pt_tsc_bit,
  pt_noretcomp_bit,
  pt_have_sched_switch,
  pt_snapshot_mode,
  pt_per_cpu_mmaps,
  pt_mtc_bit,
  pt_mtc_freq_bits,
  pt_tsc_ctc_n,
  pt_tsc_ctc_d,
  pt_cyc_bit,
  pt_max_nonturbo_ratio,
  pt_filter_length,
  pt_fields,
};
constexpr std::size_t oldest_pt_fields =
    pt_mtc_bit; // the fields that the first version of perf wrote

Result<TimeConversion> make_conversion(const Record& record, std::uint64_t shift,
                                       std::uint64_t multiplier, std::uint64_t zero) {
  if (shift > largest_time_shift || multiplier > largest_u32) {
    return std::unexpected(
        malformed(record, fmt::format("has an impossible time conversion (shift {}, multiplier {})",
                                      shift, multiplier)));
  }
  return TimeConversion{.shift = static_cast<std::uint16_t>(shift),
                        .multiplier = static_cast<std::uint32_t>(multiplier),
                        .zero = zero,
                        .valid = multiplier != 0};
}

Result<void> read_time_conv(const Record& record, SideBand& side_band) {
  ByteReader reader(record.payload);
  const auto shift = reader.read<std::uint64_t>();
  const auto multiplier = reader.read<std::uint64_t>();
  const auto zero = reader.read<std::uint64_t>();
  if (reader.failed()) {
    return std::unexpected(malformed(record, "is shorter than its fields"));
  }
  if (reader.remaining() > 2 * sizeof(std::uint64_t)) { // since perf 5.11
    reader.skip(2 * sizeof(std::uint64_t));             // cycles and mask of a short counter
    if (reader.read<std::uint8_t>() == 0) {
      return {}; // the machine had no time_zero
    }
  }
  auto conversion = make_conversion(record, shift, multiplier, zero);
  if (!conversion) {
    return std::unexpected(conversion.error());
  }
  side_band.time_conversion = *conversion;
  return {};
}

Result<void> read_auxtrace_info(const Record& record, SideBand& side_band) {
  ByteReader reader(record.payload);
  const auto type = reader.read<std::uint32_t>();
  reader.skip(sizeof(std::uint32_t));
  if (reader.failed()) {
    return std::unexpected(malformed(record, "is shorter than its fields"));
  }
  if (type != auxtrace_intel_pt) {
    return {};
  }
  std::vector<std::uint64_t> fields(pt_fields);
  const std::uint64_t present =
      std::min<std::uint64_t>(pt_fields, reader.remaining() / sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < present; ++i) {
    fields[i] = reader.read<std::uint64_t>();
  }
  if (present < oldest_pt_fields) {
    return std::unexpected(malformed(record, "is shorter than its fields"));
  }
  for (const auto field : {pt_pmu_type, pt_tsc_ctc_n, pt_tsc_ctc_d, pt_max_nonturbo_ratio}) {
    if (fields[field] > largest_u32) {
      return std::unexpected(
          malformed(record, fmt::format("has an impossible value {:#x} in field {}", fields[field],
                                        static_cast<std::uint64_t>(field))));
    }
  }
  const std::string_view filter = reader.text(fields[pt_filter_length]);
  if (reader.failed()) {
    return std::unexpected(malformed(record, "is shorter than its filter text"));
  }
  if (fields[pt_cap_user_time_zero] != 0 && !side_band.time_conversion.valid) {
    auto conversion =
        make_conversion(record, fields[pt_time_shift], fields[pt_time_mult], fields[pt_time_zero]);
    if (!conversion) {
      return std::unexpected(conversion.error());
    }
    side_band.time_conversion = *conversion;
  }
  side_band.intel_pt =
      IntelPtInfo{.pmu_type = static_cast<std::uint32_t>(fields[pt_pmu_type]),
                  .tsc_bit = fields[pt_tsc_bit],
                  .noretcomp_bit = fields[pt_noretcomp_bit],
                  .mtc_bit = fields[pt_mtc_bit],
                  .mtc_freq_bits = fields[pt_mtc_freq_bits],
                  .cyc_bit = fields[pt_cyc_bit],
                  .tsc_ctc_numerator = static_cast<std::uint32_t>(fields[pt_tsc_ctc_n]),
                  .tsc_ctc_denominator = static_cast<std::uint32_t>(fields[pt_tsc_ctc_d]),
                  .max_nonturbo_ratio = static_cast<std::uint32_t>(fields[pt_max_nonturbo_ratio]),
                  .have_sched_switch = fields[pt_have_sched_switch],
                  .snapshot_mode = fields[pt_snapshot_mode] != 0,
                  .per_cpu_buffers = fields[pt_per_cpu_mmaps] != 0,
                  .filter = std::string(filter)};
  return {};
}

Result<void> read_auxtrace_error(const Record& record, SideBand& side_band) {
  constexpr std::uint64_t largest_message = 64;
  ByteReader reader(record.payload);
  AuxTraceError error;
  reader.skip(2 * sizeof(std::uint32_t)); // type and code
  error.cpu = reader.read<std::int32_t>();
  reader.skip(sizeof(std::int32_t)); // pid
  error.tid = reader.read<std::int32_t>();
  const auto format = reader.read<std::uint32_t>();
  error.address = reader.read<std::uint64_t>();
  if (format >= 1) {
    error.time_ns = reader.read<std::uint64_t>();
  }
  error.message = reader.text(std::min(largest_message, reader.remaining()));
  if (reader.failed()) {
    return std::unexpected(malformed(record, "is shorter than its fields"));
  }
  side_band.trace_errors.push_back(std::move(error));
  return {};
}

Result<void> read_header_attr(const Record& record, AttributeTable& attributes) {
  ByteReader start(record.payload);
  start.skip(sizeof(std::uint32_t));
  const auto size = start.read<std::uint32_t>();
  ByteReader reader(record.payload);
  const auto attribute = reader.take(size);
  std::vector<std::uint64_t> ids;
  while (reader.remaining() >= sizeof(std::uint64_t)) {
    ids.push_back(reader.read<std::uint64_t>());
  }
  if (std::ranges::any_of(ids, [&](std::uint64_t id) { return attributes.knows_id(id); })) {
    return {}; // the attribute section has already added it
  }
  if (reader.failed() || !attributes.add(attribute, std::move(ids))) {
    return std::unexpected(malformed(record, "is shorter than its fields"));
  }
  return {};
}

} // namespace

std::optional<BuildIdEntry> read_build_id(std::uint16_t misc, std::span<const std::byte> payload) {
  constexpr std::uint16_t has_size = 1U << 15; // PERF_RECORD_MISC_BUILD_ID_SIZE
  constexpr std::uint64_t largest = 20;
  ByteReader reader(payload);
  BuildIdEntry entry;
  entry.pid = reader.read<std::int32_t>();
  const auto bytes = reader.take(largest);
  const auto size = reader.read<std::uint8_t>();
  reader.skip(3); // reserved
  entry.path = reader.rest_as_text();
  if (reader.failed() || ((misc & has_size) != 0 && size > largest)) {
    return std::nullopt;
  }
  for (const std::byte byte : bytes.first((misc & has_size) != 0 ? size : largest)) {
    entry.build_id.push_back(std::to_integer<std::uint8_t>(byte));
  }
  return entry;
}

Result<void> read_perf_record(const Record& record, AttributeTable& attributes,
                              SideBand& side_band) {
  switch (record.type) {
  case record_header_attr:
    return read_header_attr(record, attributes);
  case record_header_build_id:
    if (auto entry = read_build_id(record.misc, record.payload)) {
      side_band.build_ids.push_back(*std::move(entry));
      return {};
    }
    return std::unexpected(malformed(record, "is shorter than its fields"));
  case record_auxtrace_info:
    return read_auxtrace_info(record, side_band);
  case record_auxtrace_error:
    return read_auxtrace_error(record, side_band);
  case record_time_conv:
    return read_time_conv(record, side_band);
  default:
    return {};
  }
}

} // namespace ptlens::perfdata
