// Field positions of samples and trailers, from perf_event_attr::sample_type.
#include "perfdata/records/sample_layout.hpp"

#include <algorithm>
#include <bit>
#include <linux/perf_event.h>

namespace ptlens::perfdata {

namespace {
constexpr std::uint64_t field = 8; // every field before the read values has 8 bytes
constexpr std::uint64_t trailer_fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                         PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                         PERF_SAMPLE_IDENTIFIER;
constexpr std::uint64_t before_id =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

std::uint64_t bytes_of(std::uint64_t fields) {
  return field * static_cast<std::uint64_t>(std::popcount(fields));
}
} // namespace

std::uint64_t SampleLayout::trailer_size() const {
  return sample_id_all ? bytes_of(sample_type & trailer_fields) : 0;
}

std::optional<std::uint64_t> SampleLayout::id_from_end() const {
  if (!sample_id_all) {
    return std::nullopt;
  }
  if (has(PERF_SAMPLE_IDENTIFIER)) {
    return field;
  }
  if (has(PERF_SAMPLE_ID)) {
    return field + bytes_of(sample_type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> SampleLayout::id_from_start() const {
  if (has(PERF_SAMPLE_IDENTIFIER)) {
    return 0;
  }
  if (has(PERF_SAMPLE_ID)) {
    return bytes_of(sample_type & before_id);
  }
  return std::nullopt;
}

SampleId SampleLayout::read_trailer(ByteReader& reader) const {
  SampleId id;
  if (!sample_id_all) {
    return id;
  }
  if (has(PERF_SAMPLE_TID)) {
    id.pid = reader.read<std::int32_t>();
    id.tid = reader.read<std::int32_t>();
  }
  if (has(PERF_SAMPLE_TIME)) {
    id.time_ns = reader.read<std::uint64_t>();
  }
  reader.skip(bytes_of(sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
  if (has(PERF_SAMPLE_CPU)) {
    id.cpu = reader.read<std::int32_t>();
  }
  return id;
}

SampleFields SampleLayout::read_sample(ByteReader& reader) const {
  SampleFields sample;
  reader.skip(bytes_of(sample_type & PERF_SAMPLE_IDENTIFIER));
  if (has(PERF_SAMPLE_IP)) {
    sample.ip = reader.read<std::uint64_t>();
  }
  if (has(PERF_SAMPLE_TID)) {
    sample.id.pid = reader.read<std::int32_t>();
    sample.id.tid = reader.read<std::int32_t>();
  }
  if (has(PERF_SAMPLE_TIME)) {
    sample.id.time_ns = reader.read<std::uint64_t>();
  }
  reader.skip(bytes_of(sample_type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
  if (has(PERF_SAMPLE_CPU)) {
    sample.id.cpu = reader.read<std::int32_t>();
    reader.skip(sizeof(std::uint32_t));
  }
  reader.skip(bytes_of(sample_type & PERF_SAMPLE_PERIOD));
  if (has(PERF_SAMPLE_READ)) {
    skip_read_values(reader);
  }
  if (has(PERF_SAMPLE_CALLCHAIN)) {
    const std::uint64_t before = reader.position();
    const auto count = reader.read<std::uint64_t>();
    reader.skip_array(count, field);
    sample.chain = reader.since(before + field);
  }
  if (has(PERF_SAMPLE_RAW)) {
    sample.raw = reader.take(reader.read<std::uint32_t>());
  }
  if (!has(PERF_SAMPLE_BRANCH_STACK)) { // it would come next
    read_user_state(reader, sample);
  }
  return sample;
}

void SampleLayout::read_user_state(ByteReader& reader, SampleFields& sample) const {
  if (has(PERF_SAMPLE_REGS_USER)) {
    const auto abi = reader.read<std::uint64_t>();
    const auto values = abi == PERF_SAMPLE_REGS_ABI_NONE ? std::span<const std::byte>{}
                                                         : reader.take(bytes_of(registers));
    sample.registers = abi == PERF_SAMPLE_REGS_ABI_64 ? values : std::span<const std::byte>{};
  }
  if (has(PERF_SAMPLE_STACK_USER)) {
    const auto size = reader.read<std::uint64_t>();
    sample.user_stack = reader.take(size);
    const std::uint64_t used = size == 0 ? 0 : reader.read<std::uint64_t>();
    sample.user_stack =
        sample.user_stack.first(std::min<std::uint64_t>(used, sample.user_stack.size()));
  }
}

// Layout: struct read_format of <linux/perf_event.h>.
void SampleLayout::skip_read_values(ByteReader& reader) const {
  const std::uint64_t times =
      bytes_of(read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
  const std::uint64_t value = field + bytes_of(read_format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
  if ((read_format & PERF_FORMAT_GROUP) == 0) {
    reader.skip(times + value);
    return;
  }
  const auto count = reader.read<std::uint64_t>();
  reader.skip(times);
  reader.skip_array(count, value);
}

} // namespace ptlens::perfdata
