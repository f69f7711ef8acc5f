// Layout of records: include/uapi/linux/perf_event.h. A process can end before its record is read,
// so that /proc alone does not have all names. Records of different CPUs come in any order.
#include "record/probes/session/outside_wakers.hpp"

#include "perfdata/bytes/byte_reader.hpp"
#include "record/probes/events/process_records.hpp"
#include "record/processes/files.hpp"
#include "waits/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <linux/perf_event.h>

namespace ptlens::record {
namespace {

constexpr std::uint64_t between_renewals_ns = 100'000'000;
constexpr std::size_t longest_name = 16;

std::uint32_t type_of(std::span<const std::byte> record) {
  return perfdata::ByteReader(record).read<std::uint32_t>();
}

perfdata::ByteReader body_of(std::span<const std::byte> record) {
  perfdata::ByteReader reader(record);
  reader.skip(sizeof(perf_event_header));
  return reader;
}

struct Waking {
  std::int32_t pid = -1; // of the waker
  std::int32_t tid = -1;
  waits::WakingFields fields;
};

std::optional<Waking> waking_in(std::span<const std::byte> record) {
  constexpr std::size_t time_and_cpu = 16;
  perfdata::ByteReader reader = body_of(record);
  Waking waking;
  reader.skip(sizeof(std::uint64_t)); // identifier
  waking.pid = reader.read<std::int32_t>();
  waking.tid = reader.read<std::int32_t>();
  reader.skip(time_and_cpu);
  const auto depth = reader.read<std::uint64_t>();
  if (depth > reader.remaining() / sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  reader.skip(depth * sizeof(std::uint64_t));
  const auto size = reader.read<std::uint32_t>();
  const auto fields = waits::waking_fields(reader.take(size));
  if (reader.failed() || !fields) {
    return std::nullopt;
  }
  waking.fields = *fields;
  return waking;
}

std::string name_in_proc(std::int32_t tid) {
  std::string name = read_text(fmt::format("/proc/{}/comm", tid)).value_or("");
  name.resize(std::min(name.find('\n'), name.size()));
  return name;
}

} // namespace

Result<void> OutsideWakers::open(HitEvents& events) {
  return events.add_outside_wakings(waits_, threads_, cpus_);
}

std::optional<std::int32_t> OutsideWakers::take(std::span<const std::byte> record,
                                                bool from_outside) {
  if (is_sample(record)) {
    const auto waking = from_outside ? waking_in(record) : std::nullopt;
    if (!waking) {
      return std::nullopt;
    }
    take_waker(waking->pid, waking->tid);
    return waking->fields.tid;
  }
  if (from_outside) {
    take_of_others(record);
    return std::nullopt;
  }
  const std::uint32_t type = type_of(record);
  if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) {
    perfdata::ByteReader reader = body_of(record);
    reader.skip(2 * sizeof(std::int32_t)); // process and parent
    const auto tid = reader.read<std::int32_t>();
    if (type == PERF_RECORD_FORK) {
      changed_ = threads_.insert(tid).second || changed_;
    } else {
      threads_.erase(tid);
    }
  }
  return std::nullopt;
}

void OutsideWakers::take_of_others(std::span<const std::byte> record) {
  perfdata::ByteReader reader = body_of(record);
  const std::uint32_t type = type_of(record);
  if (type == PERF_RECORD_COMM) {
    reader.skip(sizeof(std::int32_t));
    const auto tid = reader.read<std::int32_t>();
    Thread& thread = others_[tid];
    if (const std::uint64_t time_ns = time_of_record(record); time_ns >= thread.named_ns) {
      thread.name = reader.text(std::min(reader.remaining(), longest_name));
      thread.named_ns = time_ns;
    }
  } else if (type == PERF_RECORD_FORK) {
    reader.skip(2 * sizeof(std::int32_t));
    const auto tid = reader.read<std::int32_t>();
    Thread& thread = others_[tid];
    thread.parent = reader.read<std::int32_t>();
    if (thread.named_ns < time_of_record(record)) { // of an earlier thread of that number
      thread.name.clear();
    }
  }
}

void OutsideWakers::take_waker(std::int32_t pid, std::int32_t tid) {
  if (tid <= 0 || !wakers_.emplace(tid, pid).second) {
    return;
  }
  for (const std::int32_t each : {pid, tid}) {
    if (std::string name = name_in_proc(each); !name.empty()) {
      names_at_once_.try_emplace(each, std::move(name));
    }
  }
}

void OutsideWakers::renew(HitEvents& events, std::uint64_t now_ns) {
  if (!changed_ || threads_.empty() || now_ns < renewed_ns_ + between_renewals_ns) {
    return;
  }
  changed_ = false;
  renewed_ns_ = now_ns;
  [[maybe_unused]] const auto renewed = open(events); // else the previous filter stays
}

// A record of a name can be behind that of the waking, and a process can have its parent's name.
std::string OutsideWakers::name_of(std::int32_t tid) const {
  constexpr int most_generations = 16;
  for (int generation = 0; generation < most_generations; ++generation) {
    const auto other = others_.find(tid);
    if (other != others_.end() && !other->second.name.empty()) {
      return other->second.name;
    }
    if (const auto known = names_at_once_.find(tid); known != names_at_once_.end()) {
      return known->second;
    }
    if (other == others_.end()) {
      return name_in_proc(tid);
    }
    tid = other->second.parent;
  }
  return "";
}

std::vector<std::vector<std::byte>> OutsideWakers::name_records() const {
  std::vector<std::vector<std::byte>> records;
  for (const auto& [tid, pid] : wakers_) {
    for (const std::int32_t each : {pid, tid}) {
      if (const std::string name = name_of(each); !name.empty()) {
        records.push_back(name_record(pid, each, name));
      }
    }
  }
  return records;
}

} // namespace ptlens::record
