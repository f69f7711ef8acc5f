// Records of perf.data.
#include "file/perf_data_writer.hpp"

#include "file/recording_preamble.hpp"
#include "file/user_record.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ptlens::ptsim {
namespace {

constexpr std::uint64_t header_size = 104;
constexpr std::uint64_t trace_alignment = 8;

Error disk_error(const std::string& path) {
  return Error{.message = std::strerror(errno),
               .file = path,
               .remedy = "choose another file with -o, or free space on the disk"};
}

ByteBuffer task_bytes(Task task) {
  ByteBuffer bytes;
  return bytes.u32(static_cast<std::uint32_t>(task.pid)).u32(static_cast<std::uint32_t>(task.tid));
}

// pid, parent's pid, tid, parent's tid
ByteBuffer family(Task task, Task parent, std::uint64_t time) {
  ByteBuffer body;
  body.u32(static_cast<std::uint32_t>(task.pid)).u32(static_cast<std::uint32_t>(parent.pid));
  body.u32(static_cast<std::uint32_t>(task.tid)).u32(static_cast<std::uint32_t>(parent.tid));
  return body.u64(time);
}

} // namespace

PerfDataWriter::PerfDataWriter(const RecordingConfig& config)
    : config_(config), lanes_(config.lanes.size()) {
  features_.command_line = config.command_line;
  features_.events = recorded_events(config);
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
    for (const std::uint64_t id : event.ids) {
      write(ByteBuffer().u64(id));
    }
  }
  std::uint64_t ids_at = header_size;
  for (const EventDescription& event : features_.events) {
    const std::uint64_t ids_size = event.ids.size() * sizeof(std::uint64_t);
    write(ByteBuffer().add(event.attributes).u64(ids_at).u64(ids_size));
    ids_at += ids_size;
  }
  data_begin_ = position_;
  write_header(data_begin_, {}); // as perf does: an empty data section says that it is not finished
  file_.seekp(static_cast<std::streamoff>(position_));
  write(preamble(config_, features_.events));
  file_.flush(); // perf has a file as soon as it begins
}

void PerfDataWriter::write(const ByteBuffer& bytes) {
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  position_ += bytes.size();
}

void PerfDataWriter::event(std::uint32_t type, std::uint16_t misc, ByteBuffer body,
                           const Stamp& stamp, std::size_t of) {
  if (!config_.lanes[stamp.lane].recorded) {
    return;
  }
  body.append(task_bytes(stamp.task)).u64(stamp.time);
  if (records_have_cpu(config_)) {
    body.u32(stamp.cpu).u32(0);
  }
  body.u64(features_.events[of].ids[stamp.lane]);
  const ByteBuffer record = record_bytes(type, misc, body);
  lanes_[stamp.lane].records.append(record);
  pending_ += record.size();
}

void PerfDataWriter::comm(const Stamp& stamp, const std::string& name, bool exec) {
  ByteBuffer body = task_bytes(stamp.task);
  body.text(name, rounded_up(std::min(name.size() + 1, thread_name_size), sizeof(std::uint64_t)));
  event(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, std::move(body), stamp,
        tracking_event);
}

void PerfDataWriter::mapping(const Stamp& stamp, const Mapping& mapping,
                             std::span<const std::uint8_t> build_id) {
  ByteBuffer body = task_bytes(stamp.task);
  body.u64(mapping.start).u64(mapping.end - mapping.start).u64(mapping.file_offset);
  body.u32(mapping.device_major).u32(mapping.device_minor).u64(mapping.inode).u64(0);
  body.u32(mapping.protection).u32(mapping.flags);
  body.text(mapping.path, rounded_up(mapping.path.size() + 1, sizeof(std::uint64_t)));
  event(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, std::move(body), stamp, tracking_event);
  const bool listed = std::ranges::any_of(
      features_.build_ids, [&](const BuildId& known) { return known.path == mapping.path; });
  if (config_.build_ids && !build_id.empty() && !listed && mapping.path.starts_with('/')) {
    features_.build_ids.push_back({mapping.path, {build_id.begin(), build_id.end()}});
  }
}

void PerfDataWriter::kernel_mapping(std::uint64_t start, std::uint64_t length,
                                    std::span<const std::uint8_t> build_id) {
  const std::string name = "[kernel.kallsyms]_text";
  ByteBuffer body = task_bytes({-1, 0});
  body.u64(start).u64(length).u64(start);
  body.text(name, rounded_up(name.size() + 1, sizeof(std::uint64_t)));
  event(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, std::move(body), {0, 0, {-1, 0}, 0},
        tracking_event);
  if (config_.build_ids) {
    features_.build_ids.push_back({"[kernel.kallsyms]", {build_id.begin(), build_id.end()}});
  }
}

void PerfDataWriter::fork(const Stamp& stamp, Task child) {
  event(PERF_RECORD_FORK, 0, family(child, stamp.task, stamp.time), stamp, tracking_event);
}

void PerfDataWriter::exit(const Stamp& stamp) {
  event(PERF_RECORD_EXIT, 0, family(stamp.task, stamp.task, stamp.time), stamp, tracking_event);
}

void PerfDataWriter::trace_start(const Stamp& stamp) {
  event(PERF_RECORD_ITRACE_START, 0, task_bytes(stamp.task), stamp, trace_event);
}

void PerfDataWriter::switch_out(const Stamp& stamp, Task next, bool preempted) {
  const int misc =
      PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0);
  switched(stamp, static_cast<std::uint16_t>(misc), next);
}

void PerfDataWriter::switch_in(const Stamp& stamp, Task previous) {
  switched(stamp, 0, previous);
}

void PerfDataWriter::switched(const Stamp& stamp, std::uint16_t misc, Task other) {
  if (config_.cpu_wide_switches()) {
    event(PERF_RECORD_SWITCH_CPU_WIDE, misc, task_bytes(other), stamp, tracking_event);
  } else if (!config_.per_thread || config_.switch_events) {
    event(PERF_RECORD_SWITCH, misc, {}, stamp, tracking_event);
  }
}

void PerfDataWriter::aux(const Stamp& stamp, std::uint64_t offset, std::uint64_t size,
                         std::uint64_t flags) {
  ByteBuffer body;
  body.u64(offset).u64(size).u64(flags);
  event(PERF_RECORD_AUX, 0, std::move(body), stamp, trace_event);
}

void PerfDataWriter::lost(const Stamp& stamp, std::uint64_t records) {
  ByteBuffer body;
  body.u64(features_.events[tracking_event].ids[stamp.lane]).u64(records);
  event(PERF_RECORD_LOST, 0, std::move(body), stamp, tracking_event);
}

void PerfDataWriter::trace(std::size_t lane, std::span<const std::uint8_t> bytes,
                           std::uint64_t offset, std::uint64_t tsc) {
  lanes_[lane].trace.push_back({offset, tsc, {bytes.begin(), bytes.end()}});
  pending_ += bytes.size();
}

void PerfDataWriter::write_trace(std::size_t lane, const TracePiece& piece) {
  const Lane& of = config_.lanes[lane];
  const std::size_t size = rounded_up(piece.bytes.size(), trace_alignment);
  ByteBuffer body;
  body.u64(size).u64(piece.offset).u64(piece.tsc).u32(static_cast<std::uint32_t>(lane));
  body.u32(static_cast<std::uint32_t>(of.tid)).u32(static_cast<std::uint32_t>(of.cpu)).u32(0);
  const ByteBuffer record = record_bytes(auxtrace, 0, body);
  features_.trace_index.push_back({position_, record.size()});
  write(record);
  file_.write(reinterpret_cast<const char*>(piece.bytes.data()),
              static_cast<std::streamsize>(piece.bytes.size()));
  position_ += piece.bytes.size();
  write(ByteBuffer().zeros(size - piece.bytes.size()));
}

void PerfDataWriter::finish_round() {
  if (pending_ == 0) {
    return;
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const LaneContents contents = std::exchange(lanes_[lane], {});
    write(contents.records);
    for (const TracePiece& piece : contents.trace) {
      write_trace(lane, piece);
    }
  }
  write(record_bytes(finished_round, 0, {}));
  file_.flush();
  pending_ = 0;
}

Result<void> PerfDataWriter::finish() {
  finish_round();
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
                                  const std::array<std::uint64_t, 4>& features) {
  constexpr std::uint64_t attribute_entry = sizeof(perf_event_attr) + 16;
  const std::uint64_t count = features_.events.size();
  const std::uint64_t ids = count * config_.lanes.size();
  ByteBuffer header;
  header.add(std::array{'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'});
  header.u64(header_size).u64(attribute_entry);
  header.u64(header_size + ids * sizeof(std::uint64_t)).u64(count * attribute_entry);
  header.u64(data_begin_).u64(data_end - data_begin_);
  header.u64(0).u64(0);
  for (const std::uint64_t bits : features) {
    header.u64(bits);
  }
  file_.seekp(0);
  file_.write(header.data(), static_cast<std::streamsize>(header.size()));
}

} // namespace ptlens::ptsim
