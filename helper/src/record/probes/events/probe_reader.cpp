// Layout of records:
// include/uapi/linux/perf_event.h, PERF_RECORD_SAMPLE.
#include "record/probes/events/probe_reader.hpp"

#include "record/probes/events/hit_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::size_t data_pages = 128; // a power of two

template <class T>
bool take(std::span<const std::byte>& bytes, T& value) {
  if (bytes.size() < sizeof value) {
    return false;
  }
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return true;
}

} // namespace

Result<ProbeReader> ProbeReader::open(std::span<const ProbeEvent> events, std::int32_t pid) {
  ProbeReader reader;
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    if (auto opened = reader.open_on(cpu, events, pid); !opened) {
      return std::unexpected(opened.error());
    }
  }
  return reader;
}

Result<void> ProbeReader::open_on(int cpu, std::span<const ProbeEvent> events, std::int32_t pid) {
  Ring ring;
  const auto failure = [cpu](const char* what) {
    const int reason = errno;
    return std::unexpected(Error{
        .kind = reason == EACCES || reason == EPERM ? Error::Kind::no_rights : Error::Kind::failed,
        .message = fmt::format("{} on CPU {}: {}", what, cpu, std::strerror(reason)),
        .remedy = "run the same command with sudo"});
  };
  for (const ProbeEvent& event : events) {
    perf_event_attr attribute{};
    attribute.type = PERF_TYPE_TRACEPOINT;
    attribute.size = sizeof attribute;
    attribute.config = event.id;
    attribute.sample_period = 1;
    attribute.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
    attribute.use_clockid = 1;
    attribute.clockid = CLOCK_MONOTONIC;
    attribute.disabled = event.filter.empty() ? 0 : 1;
    Descriptor opened(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attribute, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!opened.valid() && errno == ENODEV) {
      return {}; // the CPU is offline
    }
    if (!opened.valid()) {
      return failure("a probe event cannot be opened");
    }
    if (!event.filter.empty() &&
        (::ioctl(opened.get(), PERF_EVENT_IOC_SET_FILTER, event.filter.c_str()) != 0 ||
         ::ioctl(opened.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)) {
      return failure("a probe's condition cannot be set");
    }
    if (!ring.events.empty() &&
        ::ioctl(opened.get(), PERF_EVENT_IOC_SET_OUTPUT, ring.events.front().get()) != 0) {
      return failure("probes cannot share a buffer");
    }
    if (ring.events.empty()) {
      auto mapped = RingBuffer::map(opened.get(), data_pages);
      if (!mapped) {
        return std::unexpected(mapped.error());
      }
      ring.buffer = std::move(*mapped);
    }
    ring.events.push_back(std::move(opened));
  }
  rings_.push_back(std::move(ring));
  return {};
}

void ProbeReader::parse(std::span<const std::byte> record) {
  perf_event_header header{};
  if (!record::take(record, header)) {
    return;
  }
  if (header.type == PERF_RECORD_LOST) {
    std::uint64_t id = 0;
    std::uint64_t count = 0;
    if (record::take(record, id) && record::take(record, count)) {
      lost_ += count;
    }
    return;
  }
  LiveHit hit;
  std::uint32_t size = 0;
  std::uint64_t common = 0; // u16 type, u8 flags, u8 preempt count, i32 pid
  if (header.type == PERF_RECORD_SAMPLE && record::take(record, hit.pid) &&
      record::take(record, hit.tid) && record::take(record, hit.time_ns) &&
      record::take(record, size) && size <= record.size()) {
    hit.goroutine = goroutine_sample(record.first(size));
    if (!record::take(record, common) || !record::take(record, hit.ip) ||
        !record::take(record, hit.stack_pointer)) {
      return;
    }
    constexpr std::uint64_t type = 0xffff;
    hit.event_id = common & type;
    waiting_.push_back(hit);
  }
}

std::vector<LiveHit> ProbeReader::read() {
  constexpr std::uint64_t settled_ns = 1'000'000;
  const std::uint64_t until = event_clock_ns() - settled_ns;
  for (Ring& ring : rings_) {
    if (ring.buffer) {
      ring.buffer->drain([this](std::span<const std::byte> record) { parse(record); });
    }
  }
  std::ranges::stable_sort(waiting_, {}, &LiveHit::time_ns);
  const auto end = std::ranges::upper_bound(waiting_, until, {}, &LiveHit::time_ns);
  std::vector<LiveHit> hits(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return hits;
}

} // namespace ptlens::record
