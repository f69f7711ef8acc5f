// Records of perf.data.
#include "perf_data_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace ptlens::ptsim {
namespace {

enum UserRecord : std::uint32_t {
  finished_round = 68,
  id_index = 69,
  auxtrace_info = 70,
  auxtrace = 71,
  thread_map = 73,
  time_conv = 79,
};

constexpr std::uint64_t header_size = 104;
constexpr std::uint64_t trace_id = 1; // perf event ids
constexpr std::uint64_t tracking_id = 2;
constexpr std::uint64_t trace_alignment = 8;
constexpr std::uint32_t intel_pt_auxtrace = 1;
constexpr std::size_t thread_name_size = 16;

// Bits of the event's config, /sys/bus/event_source/devices/intel_pt/format.
constexpr std::uint64_t tsc_bit = 1 << 10;
constexpr std::uint64_t noretcomp_bit = 1 << 11;
constexpr std::uint64_t mtc_bit = 1 << 9;
constexpr std::uint64_t mtc_period_bits = 0xf << 14;
constexpr std::uint64_t cyc_bit = 1 << 1;

// Without a CPU in each record, perf 6.1 refuses the switch records of a per-thread recording
// (machine__set_current_tid), so they are written as `perf record --sample-cpu` would.
bool records_have_cpu(const RecordingConfig& config) {
  return !config.per_thread || config.switch_events;
}

std::uint64_t sample_type(const RecordingConfig& config) {
  const std::uint64_t basic =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
  return records_have_cpu(config) ? basic | PERF_SAMPLE_CPU : basic;
}

perf_event_attr common_attributes(const RecordingConfig& config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.sample_period = 1;
  attributes.sample_type = sample_type(config);
  attributes.read_format = PERF_FORMAT_ID;
  attributes.disabled = 1;
  attributes.inherit = config.per_thread ? 0 : 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.sample_id_all = 1;
  return attributes;
}

std::vector<EventDescription> events(const RecordingConfig& config) {
  perf_event_attr trace = common_attributes(config);
  trace.type = intel_pt_pmu;
  trace.config = config.event_config;
  perf_event_attr tracking = common_attributes(config);
  tracking.type = PERF_TYPE_SOFTWARE;
  tracking.config = PERF_COUNT_SW_DUMMY;
  tracking.mmap = 1;
  tracking.mmap2 = 1;
  tracking.comm = 1;
  tracking.comm_exec = 1;
  tracking.task = 1;
  tracking.context_switch = config.switch_events || !config.per_thread ? 1 : 0;
  return {{trace, config.event, {trace_id}}, {tracking, "dummy:u", {tracking_id}}};
}

Error disk_error(const std::string& path) {
  return Error{.message = std::strerror(errno),
               .file = path,
               .remedy = "choose another file with -o, or free space on the disk"};
}

} // namespace

PerfDataWriter::PerfDataWriter(const RecordingConfig& config) : config_(config) {
  features_.command_line = config.command_line;
  features_.events = events(config);
  features_.pid = config.pid;
}

Result<PerfDataWriter> PerfDataWriter::create(const RecordingConfig& config) {
  std::error_code ignored;
  if (std::filesystem::exists(config.path, ignored)) {
    std::filesystem::rename(config.path, config.path + ".old", ignored);
  }
  PerfDataWriter writer(config);
  writer.file_.open(config.path, std::ios::binary | std::ios::trunc);
  if (!writer.file_) {
    return std::unexpected(disk_error(config.path));
  }
  writer.write_preamble();
  return writer;
}

void PerfDataWriter::write_preamble() {
  write(ByteBuffer().zeros(header_size));
  for (const EventDescription& event : features_.events) {
    write(ByteBuffer().u64(event.ids.front()));
  }
  std::uint64_t ids_at = header_size;
  for (const EventDescription& event : features_.events) {
    const std::uint64_t ids_size = event.ids.size() * sizeof(std::uint64_t);
    write(ByteBuffer().add(event.attributes).u64(ids_at).u64(ids_size));
    ids_at += ids_size;
  }
  data_begin_ = position_;

  ByteBuffer info;
  info.u32(intel_pt_auxtrace).u32(0).u64(intel_pt_pmu);
  info.u64(config_.conversion.shift).u64(config_.conversion.multiplier);
  info.u64(config_.conversion.zero).u64(1);
  info.u64(tsc_bit).u64(noretcomp_bit);
  info.u64(config_.per_thread ? 0 : 3); // 3: SWITCH_CPU_WIDE records say what ran when
  info.u64(0).u64(config_.per_thread ? 0 : 1);
  info.u64(mtc_bit).u64(mtc_period_bits);
  info.u64(config_.rates.tsc_per_ctc_numerator).u64(config_.rates.tsc_per_ctc_denominator);
  info.u64(cyc_bit).u64(config_.rates.tsc_ratio);
  info.u64(0).u64(0); // no address filter, no event trace
  record(auxtrace_info, 0, info);

  ByteBuffer conversion;
  conversion.u64(config_.conversion.shift).u64(config_.conversion.multiplier);
  conversion.u64(config_.conversion.zero);
  conversion.u64(0).u64(~std::uint64_t{0}).u8(1).u8(0).zeros(6);
  record(time_conv, 0, conversion);

  const std::uint64_t cpu = config_.per_thread ? ~std::uint64_t{0} : config_.cpu;
  ByteBuffer index;
  index.u64(features_.events.size());
  for (const EventDescription& event : features_.events) {
    index.u64(event.ids.front()).u64(0).u64(cpu).u64(static_cast<std::uint64_t>(config_.tid));
  }
  record(id_index, 0, index);

  ByteBuffer threads;
  threads.u64(1).u64(static_cast<std::uint64_t>(config_.tid));
  threads.text(config_.comm, thread_name_size);
  record(thread_map, 0, threads);
}

void PerfDataWriter::write(const ByteBuffer& bytes) {
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  position_ += bytes.size();
}

void PerfDataWriter::record(std::uint32_t type, std::uint16_t misc, const ByteBuffer& body) {
  const std::size_t size = sizeof(perf_event_header) + body.size();
  ByteBuffer buffer;
  buffer.u32(type).u16(misc).u16(static_cast<std::uint16_t>(size)).append(body);
  write(buffer);
}

void PerfDataWriter::event(std::uint32_t type, std::uint16_t misc, ByteBuffer body,
                           std::uint64_t time, std::uint64_t id, bool without_thread) {
  body.u32(static_cast<std::uint32_t>(without_thread ? 0 : config_.pid));
  body.u32(static_cast<std::uint32_t>(without_thread ? 0 : config_.tid));
  body.u64(time);
  if (records_have_cpu(config_)) {
    body.u32(config_.cpu).u32(0);
  }
  body.u64(id);
  record(type, misc, body);
}

void PerfDataWriter::comm(std::uint64_t time, const std::string& name, bool exec) {
  ByteBuffer body;
  body.u32(static_cast<std::uint32_t>(config_.pid)).u32(static_cast<std::uint32_t>(config_.tid));
  body.text(name, rounded_up(std::min(name.size() + 1, thread_name_size), sizeof(std::uint64_t)));
  event(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, std::move(body), time,
        tracking_id);
}

void PerfDataWriter::mapping(std::uint64_t time, const Mapping& mapping,
                             std::span<const std::uint8_t> build_id) {
  ByteBuffer body;
  body.u32(static_cast<std::uint32_t>(config_.pid)).u32(static_cast<std::uint32_t>(config_.tid));
  body.u64(mapping.start).u64(mapping.end - mapping.start).u64(mapping.file_offset);
  body.u32(mapping.device_major).u32(mapping.device_minor).u64(mapping.inode).u64(0);
  body.u32(mapping.protection).u32(mapping.flags);
  body.text(mapping.path, rounded_up(mapping.path.size() + 1, sizeof(std::uint64_t)));
  event(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, std::move(body), time, tracking_id);
  const bool listed = std::ranges::any_of(
      features_.build_ids, [&](const BuildId& known) { return known.path == mapping.path; });
  if (config_.build_ids && !build_id.empty() && !listed && mapping.path.starts_with('/')) {
    features_.build_ids.push_back({mapping.path, {build_id.begin(), build_id.end()}});
  }
}

void PerfDataWriter::fork(std::uint64_t time, pid_t pid, pid_t tid) {
  ByteBuffer body;
  body.u32(static_cast<std::uint32_t>(pid)).u32(static_cast<std::uint32_t>(config_.pid));
  body.u32(static_cast<std::uint32_t>(tid)).u32(static_cast<std::uint32_t>(config_.tid));
  body.u64(time);
  event(PERF_RECORD_FORK, 0, std::move(body), time, tracking_id);
}

void PerfDataWriter::exit(std::uint64_t time) {
  ByteBuffer body;
  body.u32(static_cast<std::uint32_t>(config_.pid)).u32(static_cast<std::uint32_t>(config_.pid));
  body.u32(static_cast<std::uint32_t>(config_.tid)).u32(static_cast<std::uint32_t>(config_.tid));
  body.u64(time);
  event(PERF_RECORD_EXIT, 0, std::move(body), time, tracking_id);
}

void PerfDataWriter::trace_start(std::uint64_t time) {
  ByteBuffer body;
  body.u32(static_cast<std::uint32_t>(config_.pid)).u32(static_cast<std::uint32_t>(config_.tid));
  event(PERF_RECORD_ITRACE_START, 0, std::move(body), time, trace_id);
}

void PerfDataWriter::switch_out(std::uint64_t time, bool preempted) {
  switched(time,
           PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
}

void PerfDataWriter::switch_in(std::uint64_t time) {
  switched(time, 0);
}

void PerfDataWriter::switched(std::uint64_t time, std::uint16_t misc) {
  if (config_.per_thread) {
    if (config_.switch_events) {
      event(PERF_RECORD_SWITCH, misc, {}, time, tracking_id);
    }
    return;
  }
  // The other side of the switch is the idle task, pid and tid 0, which is switched too.
  const bool out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  const ByteBuffer idle = ByteBuffer().u32(0).u32(0);
  const ByteBuffer thread = ByteBuffer()
                                .u32(static_cast<std::uint32_t>(config_.pid))
                                .u32(static_cast<std::uint32_t>(config_.tid));
  if (out) {
    event(PERF_RECORD_SWITCH_CPU_WIDE, misc, idle, time, tracking_id);
    event(PERF_RECORD_SWITCH_CPU_WIDE, 0, thread, time, tracking_id, true);
  } else {
    event(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, thread, time, tracking_id,
          true);
    event(PERF_RECORD_SWITCH_CPU_WIDE, 0, idle, time, tracking_id);
  }
}

void PerfDataWriter::aux(std::uint64_t time, std::uint64_t offset, std::uint64_t size) {
  ByteBuffer body;
  body.u64(offset).u64(size).u64(0);
  event(PERF_RECORD_AUX, 0, std::move(body), time, trace_id);
}

void PerfDataWriter::trace(std::span<const std::uint8_t> bytes, std::uint64_t offset,
                           std::uint64_t tsc) {
  const std::size_t size = rounded_up(bytes.size(), trace_alignment);
  ByteBuffer body;
  body.u64(size).u64(offset).u64(tsc);
  body.u32(0); // index of the AUX buffer
  body.u32(config_.per_thread ? static_cast<std::uint32_t>(config_.tid) : ~std::uint32_t{0});
  body.u32(config_.per_thread ? ~std::uint32_t{0} : config_.cpu);
  body.u32(0);
  features_.trace_index.push_back({position_, sizeof(perf_event_header) + body.size()});
  record(auxtrace, 0, body);
  ByteBuffer data;
  for (const std::uint8_t byte : bytes) {
    data.u8(byte);
  }
  write(data.zeros(size - bytes.size()));
  record(finished_round, 0, {});
}

Result<void> PerfDataWriter::finish() {
  const std::uint64_t data_end = position_;
  const auto sections = feature_sections(features_);
  constexpr std::size_t table_entry = 16;
  std::uint64_t at = data_end + sections.size() * table_entry;
  std::array<std::uint64_t, 4> bits{};
  for (const auto& [feature, section] : sections) {
    bits.at(feature / 64) |= std::uint64_t{1} << (feature % 64);
    write(ByteBuffer().u64(at).u64(section.size()));
    at += section.size();
  }
  for (const auto& [feature, section] : sections) {
    write(section);
  }
  write_header(data_end, bits);
  file_.close();
  if (!file_) {
    return std::unexpected(disk_error(config_.path));
  }
  return {};
}

void PerfDataWriter::write_header(std::uint64_t data_end,
                                  std::span<const std::uint64_t, 4> features) {
  constexpr std::uint64_t attribute_entry = sizeof(perf_event_attr) + 16;
  const std::uint64_t count = features_.events.size();
  ByteBuffer header;
  header.add(std::array{'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'});
  header.u64(header_size).u64(attribute_entry);
  header.u64(header_size + count * sizeof(std::uint64_t)).u64(count * attribute_entry);
  header.u64(data_begin_).u64(data_end - data_begin_);
  header.u64(0).u64(0);
  for (const std::uint64_t bits : features) {
    header.u64(bits);
  }
  file_.seekp(0);
  file_.write(header.data(), static_cast<std::streamsize>(header.size()));
}

} // namespace ptlens::ptsim
