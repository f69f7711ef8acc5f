// Fields of each kernel record, in the order in <linux/perf_event.h>.
#include "perfdata/records/kernel_records.hpp"

#include "perfdata/bytes/byte_reader.hpp"

#include <algorithm>
#include <linux/perf_event.h>
#include <string_view>
#include <sys/mman.h>
#include <utility>

namespace ptlens::perfdata {

namespace {

// A record without its trailer: `fields` reads the record, `id` is the trailer.
struct Body {
  ByteReader fields;
  SampleId id;
  std::uint16_t misc = 0;

  [[nodiscard]] bool flag(std::uint32_t bit) const { return (misc & bit) != 0; }
};

std::vector<std::uint8_t> copy_of(std::span<const std::byte> bytes) {
  std::vector<std::uint8_t> copy(bytes.size());
  std::ranges::transform(bytes, copy.begin(),
                         [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return copy;
}

// The kernel adds the ending to the path of a file that was removed or replaced.
std::string_view without_deleted(std::string_view path) {
  constexpr std::string_view ending = " (deleted)";
  const bool deleted = path.starts_with('/') && path.ends_with(ending);
  return path.substr(0, path.size() - (deleted ? ending.size() : 0));
}

Mapping mapping_start(Body& body) {
  Mapping mapping;
  mapping.time_ns = body.id.time_ns;
  mapping.pid = body.fields.read<std::int32_t>();
  mapping.tid = body.fields.read<std::int32_t>();
  mapping.start = body.fields.read<std::uint64_t>();
  mapping.length = body.fields.read<std::uint64_t>();
  mapping.file_offset = body.fields.read<std::uint64_t>();
  mapping.from_kernel = (body.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  return mapping;
}

void read_mmap(Body& body, SideBand& side_band) {
  Mapping mapping = mapping_start(body);
  mapping.path = without_deleted(body.fields.rest_as_text());
  if (!body.fields.failed() && !body.flag(PERF_RECORD_MISC_MMAP_DATA)) {
    side_band.mappings.push_back(std::move(mapping));
  }
}

void read_mmap2(Body& body, SideBand& side_band) {
  constexpr std::uint64_t largest_build_id = 20;
  Mapping mapping = mapping_start(body);
  if (body.flag(PERF_RECORD_MISC_MMAP_BUILD_ID)) {
    const auto size = std::min<std::uint64_t>(body.fields.read<std::uint8_t>(), largest_build_id);
    body.fields.skip(3); // reserved
    mapping.build_id = copy_of(body.fields.take(largest_build_id));
    mapping.build_id.resize(std::min<std::uint64_t>(size, mapping.build_id.size()));
  } else {
    body.fields.skip(24); // device, inode, generation
  }
  const auto protection = body.fields.read<std::uint32_t>();
  body.fields.skip(sizeof(std::uint32_t)); // MAP_SHARED and the like
  mapping.path = without_deleted(body.fields.rest_as_text());
  if (!body.fields.failed() && (protection & PROT_EXEC) != 0) {
    side_band.mappings.push_back(std::move(mapping));
  }
}

void read_comm(Body& body, SideBand& side_band) {
  ThreadName name;
  name.time_ns = body.id.time_ns;
  name.pid = body.fields.read<std::int32_t>();
  name.tid = body.fields.read<std::int32_t>();
  name.name = body.fields.rest_as_text();
  name.exec = body.flag(PERF_RECORD_MISC_COMM_EXEC);
  side_band.thread_names.push_back(std::move(name));
}

ThreadStart read_fork(Body& body) {
  ThreadStart thread;
  thread.pid = body.fields.read<std::int32_t>();
  thread.parent_pid = body.fields.read<std::int32_t>();
  thread.tid = body.fields.read<std::int32_t>();
  thread.parent_tid = body.fields.read<std::int32_t>();
  const auto time = body.fields.read<std::uint64_t>();
  thread.time_ns = body.id.time_ns != 0 ? body.id.time_ns : time;
  return thread;
}

void read_exit(Body& body, SideBand& side_band) {
  const ThreadStart same_fields = read_fork(body);
  side_band.thread_exits.push_back({same_fields.time_ns, same_fields.pid, same_fields.tid});
}

void read_switch(Body& body, bool cpu_wide, SideBand& side_band) {
  Switch change;
  change.time_ns = body.id.time_ns;
  change.pid = body.id.pid;
  change.tid = body.id.tid;
  change.cpu = body.id.cpu;
  change.out = body.flag(PERF_RECORD_MISC_SWITCH_OUT);
  change.preempted = change.out && body.flag(PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
  if (cpu_wide) {
    change.other_pid = body.fields.read<std::int32_t>();
    change.other_tid = body.fields.read<std::int32_t>();
  }
  side_band.switches.push_back(change);
}

void read_aux(Body& body, SideBand& side_band) {
  AuxWrite write;
  write.time_ns = body.id.time_ns;
  write.tid = body.id.tid;
  write.cpu = body.id.cpu;
  write.offset = body.fields.read<std::uint64_t>();
  write.size = body.fields.read<std::uint64_t>();
  const auto flags = body.fields.read<std::uint64_t>();
  write.truncated = (flags & PERF_AUX_FLAG_TRUNCATED) != 0;
  write.overwrite = (flags & PERF_AUX_FLAG_OVERWRITE) != 0;
  write.partial = (flags & PERF_AUX_FLAG_PARTIAL) != 0;
  write.collision = (flags & PERF_AUX_FLAG_COLLISION) != 0;
  side_band.aux_writes.push_back(write);
}

void read_itrace_start(Body& body, SideBand& side_band) {
  TraceStart start;
  start.time_ns = body.id.time_ns;
  start.pid = body.fields.read<std::int32_t>();
  start.tid = body.fields.read<std::int32_t>();
  start.cpu = body.id.cpu;
  side_band.trace_starts.push_back(start);
}

void read_lost(Body& body, bool samples, SideBand& side_band) {
  if (!samples) {
    body.fields.skip(sizeof(std::uint64_t)); // id of the event
  }
  side_band.lost.push_back(
      {body.id.time_ns, body.id.tid, body.id.cpu, body.fields.read<std::uint64_t>()});
}

void read_ksymbol(Body& body, SideBand& side_band) {
  KernelSymbol symbol;
  symbol.time_ns = body.id.time_ns;
  symbol.address = body.fields.read<std::uint64_t>();
  symbol.length = body.fields.read<std::uint32_t>();
  body.fields.skip(sizeof(std::uint16_t)); // eBPF or out-of-line code
  const auto flags = body.fields.read<std::uint16_t>();
  symbol.unregister = (flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  symbol.name = body.fields.rest_as_text();
  side_band.kernel_symbols.push_back(std::move(symbol));
}

void read_text_poke(Body& body, SideBand& side_band) {
  TextPoke poke;
  poke.time_ns = body.id.time_ns;
  poke.address = body.fields.read<std::uint64_t>();
  const auto old_length = body.fields.read<std::uint16_t>();
  const auto new_length = body.fields.read<std::uint16_t>();
  const auto old_bytes = body.fields.take(old_length);
  const auto new_bytes = body.fields.take(new_length);
  poke.old_bytes.assign(old_bytes.begin(), old_bytes.end());
  poke.new_bytes.assign(new_bytes.begin(), new_bytes.end());
  side_band.text_pokes.push_back(std::move(poke));
}

Result<void> read_sample(const Record& record, const AttributeTable& attributes,
                         SideBand& side_band) {
  const auto attribute = attributes.attribute_of_sample(record.payload);
  if (!attribute) {
    return std::unexpected(malformed(record, "belongs to no event of the recording"));
  }
  ByteReader reader(record.payload);
  const SampleFields fields = attributes.layout(*attribute).read_sample(reader);
  if (reader.failed()) {
    return std::unexpected(malformed(record, "is shorter than its fields"));
  }
  const std::span<const std::byte> payload =
      record.compressed ? side_band.bytes.keep(record.payload) : record.payload;
  side_band.samples.push_back({.payload = payload.data(),
                               .size = static_cast<std::uint32_t>(payload.size()),
                               .attribute = *attribute});
  side_band.samples_in_order =
      side_band.samples_in_order && fields.id.time_ns >= side_band.latest_sample_ns;
  side_band.latest_sample_ns = fields.id.time_ns;
  return {};
}

bool is_needed(std::uint32_t type) {
  switch (type) {
  case PERF_RECORD_MMAP:
  case PERF_RECORD_LOST:
  case PERF_RECORD_COMM:
  case PERF_RECORD_EXIT:
  case PERF_RECORD_FORK:
  case PERF_RECORD_MMAP2:
  case PERF_RECORD_AUX:
  case PERF_RECORD_ITRACE_START:
  case PERF_RECORD_LOST_SAMPLES:
  case PERF_RECORD_SWITCH:
  case PERF_RECORD_SWITCH_CPU_WIDE:
  case PERF_RECORD_KSYMBOL:
  case PERF_RECORD_TEXT_POKE:
    return true;
  default:
    return false;
  }
}

void read_body(std::uint32_t type, Body& body, SideBand& side_band) {
  switch (type) {
  case PERF_RECORD_MMAP:
    return read_mmap(body, side_band);
  case PERF_RECORD_MMAP2:
    return read_mmap2(body, side_band);
  case PERF_RECORD_COMM:
    return read_comm(body, side_band);
  case PERF_RECORD_FORK:
    side_band.thread_starts.push_back(read_fork(body));
    return;
  case PERF_RECORD_EXIT:
    return read_exit(body, side_band);
  case PERF_RECORD_SWITCH:
  case PERF_RECORD_SWITCH_CPU_WIDE:
    return read_switch(body, type == PERF_RECORD_SWITCH_CPU_WIDE, side_band);
  case PERF_RECORD_AUX:
    return read_aux(body, side_band);
  case PERF_RECORD_ITRACE_START:
    return read_itrace_start(body, side_band);
  case PERF_RECORD_LOST:
  case PERF_RECORD_LOST_SAMPLES:
    return read_lost(body, type == PERF_RECORD_LOST_SAMPLES, side_band);
  case PERF_RECORD_KSYMBOL:
    return read_ksymbol(body, side_band);
  case PERF_RECORD_TEXT_POKE:
    return read_text_poke(body, side_band);
  default:
    return;
  }
}

} // namespace

Result<void> read_kernel_record(const Record& record, const AttributeTable& attributes,
                                SideBand& side_band) {
  if (record.type == PERF_RECORD_SAMPLE) {
    return read_sample(record, attributes, side_band);
  }
  if (!is_needed(record.type)) {
    return {};
  }
  const SampleLayout& layout = attributes.layout_of_record(record.payload);
  const std::uint64_t trailer_size = layout.trailer_size();
  if (trailer_size > record.payload.size()) {
    return std::unexpected(malformed(record, "is shorter than its sample id"));
  }
  const std::uint64_t body_size = record.payload.size() - trailer_size;
  ByteReader trailer(record.payload.subspan(body_size));
  Body body{ByteReader(record.payload.first(body_size)), layout.read_trailer(trailer), record.misc};
  read_body(record.type, body, side_band);
  if (body.fields.failed()) {
    return std::unexpected(malformed(record, "is shorter than its fields"));
  }
  return {};
}

} // namespace ptlens::perfdata
