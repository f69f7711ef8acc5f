#include "record/probes/events/hit_events.hpp"

#include "perfdata/contents/records.hpp"
#include "record/probes/events/thread_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace ptlens::record {
namespace {

constexpr std::size_t tid_at = 20;     // in a sample, behind the header, identifier and pid
constexpr std::size_t payload_at = 44; // in a sample, behind the header, fields and its size

constexpr std::uint64_t sample_fields =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

perf_event_attr common_attribute() {
  perf_event_attr attribute{};
  attribute.size = sizeof attribute;
  attribute.sample_period = 1;
  attribute.sample_id_all = 1;
  attribute.inherit = 1;
  attribute.use_clockid = 1;
  attribute.clockid = CLOCK_MONOTONIC;
  return attribute;
}

perf_event_attr side_band_attribute(bool build_ids) {
  perf_event_attr attribute = common_attribute();
  attribute.type = PERF_TYPE_SOFTWARE;
  attribute.config = PERF_COUNT_SW_DUMMY;
  attribute.sample_type = sample_fields;
  attribute.mmap = 1;
  attribute.mmap2 = 1;
  attribute.comm = 1;
  attribute.comm_exec = 1;
  attribute.task = 1;
  attribute.context_switch = 1;
  attribute.build_id = build_ids ? 1 : 0;
  return attribute;
}

perf_event_attr wait_attribute(std::uint64_t id) {
  perf_event_attr attribute = common_attribute();
  attribute.type = PERF_TYPE_TRACEPOINT;
  attribute.config = id;
  attribute.sample_type = sample_fields | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
                          PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attribute.exclude_callchain_user = 1; // the stack is copied instead
  attribute.sample_regs_user = wait_registers;
  attribute.sample_stack_user = wait_stack_bytes;
  attribute.disabled = 1;
  return attribute;
}

// The stacks of other processes cannot be named: the code that they map is not recorded.
perf_event_attr outside_attribute(std::uint64_t id) {
  perf_event_attr attribute = wait_attribute(id);
  attribute.sample_type &= ~std::uint64_t{PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER};
  attribute.sample_regs_user = 0;
  attribute.sample_stack_user = 0;
  attribute.inherit = 0;
  attribute.comm = 1;
  attribute.task = 1;
  return attribute;
}

perf_event_attr probe_attribute(std::uint64_t id) {
  perf_event_attr attribute = common_attribute();
  attribute.type = PERF_TYPE_TRACEPOINT;
  attribute.config = id;
  attribute.sample_type = sample_fields | PERF_SAMPLE_RAW;
  attribute.disabled = 1;
  return attribute;
}

// Returns the number of the event that made the record: first in a sample, last in all others.
std::uint64_t id_of_record(std::span<const std::byte> record) {
  perf_event_header header{};
  std::uint64_t id = 0;
  if (record.size() < sizeof header + sizeof id) {
    return 0;
  }
  std::memcpy(&header, record.data(), sizeof header);
  const std::size_t at =
      header.type == PERF_RECORD_SAMPLE ? sizeof header : record.size() - sizeof id;
  std::memcpy(&id, record.data() + at, sizeof id);
  return id;
}

Descriptor open_event(const perf_event_attr& attribute, std::int32_t tid, int cpu) {
  perf_event_attr copy = attribute;
  return Descriptor(
      static_cast<int>(::syscall(SYS_perf_event_open, &copy, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

Error open_error(int reason) {
  if (reason == EMFILE) {
    return Error{.message = "the limit of open files is too low: each probe needs one per thread "
                            "and CPU",
                 .remedy = "raise it with ulimit -n, or record one thread with --tid"};
  }
  return Error{.kind = reason == EACCES || reason == EPERM ? Error::Kind::no_rights
                                                           : Error::Kind::failed,
               .message = fmt::format("a probe cannot be opened: {}", std::strerror(reason)),
               .remedy = "run the same command with sudo"};
}

bool is_outside(const HitEvents::Described& event) {
  return event.name == perfdata::waking_event && event.attribute.inherit == 0;
}

// Each event needs a descriptor per thread and CPU.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

} // namespace

std::uint64_t event_clock_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  constexpr std::uint64_t ns_per_s = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * ns_per_s +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t time_of_record(std::span<const std::byte> record) {
  constexpr std::size_t in_sample = 24; // behind the header, identifier, pid and tid
  constexpr std::size_t from_end = 24;  // before CPU and identifier
  constexpr std::size_t trailer = 32;
  perf_event_header header{};
  std::uint64_t time = 0;
  if (record.size() < sizeof header + trailer) {
    return 0;
  }
  std::memcpy(&header, record.data(), sizeof header);
  const std::size_t at = header.type == PERF_RECORD_SAMPLE ? in_sample : record.size() - from_end;
  std::memcpy(&time, record.data() + at, sizeof time);
  return time;
}

bool is_sample(std::span<const std::byte> record) {
  perf_event_header header{};
  if (record.size() < sizeof header) {
    return false;
  }
  std::memcpy(&header, record.data(), sizeof header);
  return header.type == PERF_RECORD_SAMPLE;
}

std::int32_t tid_of_sample(std::span<const std::byte> record) {
  std::int32_t tid = -1;
  if (record.size() >= tid_at + sizeof tid) {
    std::memcpy(&tid, record.data() + tid_at, sizeof tid);
  }
  return tid;
}

std::optional<Hit> hit_of_sample(std::span<const std::byte> record) {
  constexpr std::size_t type_at = payload_at;
  constexpr std::size_t ip_at = payload_at + 8;
  Hit hit;
  std::uint16_t event = 0;
  if (record.size() < ip_at + sizeof hit.ip) {
    return std::nullopt;
  }
  hit.tid = tid_of_sample(record);
  std::memcpy(&event, record.data() + type_at, sizeof event);
  std::memcpy(&hit.ip, record.data() + ip_at, sizeof hit.ip);
  hit.event_id = event;
  return hit;
}

std::span<const std::byte> payload_of_sample(std::span<const std::byte> record) {
  return record.subspan(payload_at);
}

Result<HitEvents> HitEvents::open(const Watched& watched, std::size_t pages) {
  raise_file_limit();
  HitEvents events;
  const auto open = [&](bool build_ids) {
    return events.open_on(
        {.attribute = side_band_attribute(build_ids), .kept_in = &events.side_band_}, watched,
        pages);
  };
  auto opened = open(true);
  if (!opened && opened.error().kind == Error::Kind::failed) { // before Linux 5.12
    events = HitEvents();
    opened = open(false);
  }
  if (!opened) {
    return std::unexpected(opened.error());
  }
  return events;
}

Result<void> HitEvents::add(const ProbeEvent& event, const Watched& watched) {
  return open_on({.attribute = probe_attribute(event.id), .probe = &event, .filter = event.filter},
                 watched, 0);
}

Result<void> HitEvents::add_waits(const WaitEvents& waits, const Watched& watched) {
  for (const auto& [name, id] : {std::pair(perfdata::switch_event, waits.switch_id),
                                 std::pair(perfdata::waking_event, waits.waking_id)}) {
    auto opened =
        open_on({.attribute = wait_attribute(id), .name = name, .kept_in = &waits_}, watched, 0);
    if (!opened) {
      waits_.clear();
      wait_ids_.clear();
      std::erase_if(described_, [](const Described& event) { return !event.name.empty(); });
      return opened;
    }
    const auto ids = std::ranges::find(described_, name, &Described::name)->ids;
    wait_ids_.insert(ids.begin(), ids.end());
  }
  return {};
}

Result<void> HitEvents::add_outside_wakings(const WaitEvents& waits,
                                            const std::set<std::int32_t>& threads,
                                            const std::vector<int>& cpus) {
  std::vector<Descriptor> added;
  auto opened = open_on({.attribute = outside_attribute(waits.waking_id),
                         .name = perfdata::waking_event,
                         .kept_in = &added,
                         .filter = filter_of_outside_wakings(threads)},
                        {.threads = {}, .cpus = cpus}, 0);
  if (!opened) {
    std::erase_if(described_,
                  [this](const Described& event) { return outside_.empty() && is_outside(event); });
    return opened;
  }
  const auto& ids = std::ranges::find_if(described_, &is_outside)->ids;
  outside_ids_.insert(ids.begin(), ids.end());
  wait_ids_.insert(ids.begin(), ids.end());
  for (const Descriptor& event : added) {
    ::ioctl(event.get(), enabled_ ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  }
  outside_ = std::move(added); // a filter cannot be replaced
  return {};
}

bool HitEvents::is_from_outside(std::span<const std::byte> record) const {
  return !outside_ids_.empty() && outside_ids_.contains(id_of_record(record));
}

bool HitEvents::is_of_wait(std::span<const std::byte> record) const {
  return !wait_ids_.empty() && is_sample(record) && wait_ids_.contains(id_of_record(record));
}

Result<void> HitEvents::open_on(const Opening& opening, const Watched& watched, std::size_t pages) {
  const perf_event_attr& attribute = opening.attribute;
  const ProbeEvent* const event = opening.probe;
  auto described = std::ranges::find_if(described_, [&](const Described& known) {
    return known.attribute.type == attribute.type && known.attribute.config == attribute.config &&
           known.attribute.sample_type == attribute.sample_type;
  });
  if (described == described_.end()) {
    described = described_.insert(described_.end(),
                                  {.attribute = attribute, .ids = {}, .name = opening.name});
  }
  const std::vector<std::int32_t> all = {-1};
  std::size_t opened_count = 0;
  for (const std::int32_t tid : watched.threads.empty() ? all : watched.threads) {
    for (const int cpu : watched.cpus) {
      Descriptor opened = open_event(attribute, tid, cpu);
      if (!opened.valid() && (errno == ESRCH || errno == ENODEV)) {
        continue; // the thread ended, or the CPU is offline
      }
      const auto output = output_.find(cpu);
      const bool known = output != output_.end();
      std::uint64_t number = 0;
      if (!opened.valid() || ::ioctl(opened.get(), PERF_EVENT_IOC_ID, &number) != 0 ||
          (known && ::ioctl(opened.get(), PERF_EVENT_IOC_SET_OUTPUT, output->second) != 0) ||
          (!opening.filter.empty() &&
           ::ioctl(opened.get(), PERF_EVENT_IOC_SET_FILTER, opening.filter.c_str()) != 0)) {
        const int reason = errno;
        return std::unexpected(open_error(reason));
      }
      if (!known) {
        auto buffer = RingBuffer::map(opened.get(), pages);
        if (!buffer) {
          return std::unexpected(buffer.error());
        }
        buffers_.push_back(std::move(*buffer));
        output_.emplace(cpu, opened.get());
      }
      described->ids.push_back(number);
      ++opened_count;
      if (event == nullptr) {
        opening.kept_in->push_back(std::move(opened));
      } else {
        probes_.push_back({.event_id = event->id, .descriptor = std::move(opened)});
      }
    }
  }
  if (opened_count == 0) {
    return std::unexpected(Error{.kind = Error::Kind::gone,
                                 .message = "the process ended before it was measured",
                                 .remedy = "choose a running process"});
  }
  return {};
}

void HitEvents::use_all(unsigned long request) const {
  for (const Opened& probe : probes_) {
    ::ioctl(probe.descriptor.get(), request, 0);
  }
  for (const std::vector<Descriptor>* const events : {&waits_, &outside_}) {
    for (const Descriptor& event : *events) {
      ::ioctl(event.get(), request, 0);
    }
  }
}

void HitEvents::enable() {
  enabled_ = true;
  use_all(PERF_EVENT_IOC_ENABLE);
}

void HitEvents::disable() {
  enabled_ = false;
  use_all(PERF_EVENT_IOC_DISABLE);
}

void HitEvents::remove(std::uint64_t event_id) {
  std::erase_if(probes_, [event_id](const Opened& probe) { return probe.event_id == event_id; });
}

void HitEvents::remove_all() {
  probes_.clear();
}

void HitEvents::drain(const RingBuffer::Visit& visit) {
  for (RingBuffer& buffer : buffers_) {
    buffer.drain(visit);
  }
}

Result<Descriptor> hold(const ProbeEvent& event) {
  perf_event_attr attribute = probe_attribute(event.id);
  attribute.inherit = 0;
  Descriptor opened = open_event(attribute, 0, -1);
  if (!opened.valid()) {
    const int reason = errno;
    return std::unexpected(open_error(reason));
  }
  return opened;
}

} // namespace ptlens::record
