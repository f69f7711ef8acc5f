// Attributes and perf's own records.
#include "file/recording_preamble.hpp"

#include "file/user_record.hpp"

#include <linux/perf_event.h>

namespace ptlens::ptsim {
namespace {

constexpr std::uint32_t intel_pt_auxtrace = 1;
// have_sched_switch of struct intel_pt.
constexpr std::uint64_t no_switches = 0;
constexpr std::uint64_t own_switches = 2;
constexpr std::uint64_t cpu_wide_switches = 3;

std::uint64_t switch_records(const RecordingConfig& config) {
  if (config.cpu_wide_switches()) {
    return cpu_wide_switches;
  }
  return config.per_thread ? no_switches : own_switches;
}

// Bits of the event's config, /sys/bus/event_source/devices/intel_pt/format.
constexpr std::uint64_t tsc_bit = 1 << 10;
constexpr std::uint64_t noretcomp_bit = 1 << 11;
constexpr std::uint64_t mtc_bit = 1 << 9;
constexpr std::uint64_t mtc_period_bits = 0xf << 14;
constexpr std::uint64_t cyc_bit = 1 << 1;

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
  attributes.inherit = config.inherit ? 1 : 0;
  attributes.exclude_kernel = config.kernel ? 0 : 1;
  attributes.exclude_hv = 1;
  attributes.sample_id_all = 1;
  return attributes;
}

ByteBuffer trace_info(const RecordingConfig& config) {
  ByteBuffer info;
  info.u32(intel_pt_auxtrace).u32(0).u64(intel_pt_pmu);
  info.u64(config.conversion.shift).u64(config.conversion.multiplier);
  info.u64(config.conversion.zero).u64(1);
  info.u64(tsc_bit).u64(noretcomp_bit);
  info.u64(switch_records(config));
  info.u64(config.snapshot ? 1 : 0).u64(config.per_thread ? 0 : 1);
  info.u64(mtc_bit).u64(mtc_period_bits);
  info.u64(config.rates.tsc_per_ctc_numerator).u64(config.rates.tsc_per_ctc_denominator);
  info.u64(cyc_bit).u64(config.rates.tsc_ratio);
  info.u64(config.filter.size());
  if (!config.filter.empty()) {
    info.text(config.filter, rounded_up(config.filter.size() + 1, sizeof(std::uint64_t)));
  }
  return info.u64(0); // no event trace
}

ByteBuffer time_conversion(const TimeConversion& conversion) {
  ByteBuffer body;
  body.u64(conversion.shift).u64(conversion.multiplier).u64(conversion.zero);
  return body.u64(0).u64(~std::uint64_t{0}).u8(1).u8(0).zeros(6);
}

std::uint64_t as_u64(std::int32_t number) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
}

ByteBuffer ids(const RecordingConfig& config, const std::vector<EventDescription>& events) {
  ByteBuffer index;
  index.u64(events.size() * config.lanes.size());
  for (const EventDescription& event : events) {
    for (std::size_t lane = 0; lane < config.lanes.size(); ++lane) {
      index.u64(event.ids[lane]).u64(lane);
      index.u64(as_u64(config.lanes[lane].cpu)).u64(as_u64(config.lanes[lane].tid));
    }
  }
  return index;
}

ByteBuffer thread_names(const std::vector<RecordedThread>& threads) {
  ByteBuffer body;
  body.u64(threads.size());
  for (const RecordedThread& thread : threads) {
    body.u64(as_u64(thread.tid)).text(thread.name, thread_name_size);
  }
  return body;
}

} // namespace

// Without a CPU in each record, perf 6.1 refuses the switch records of a per-thread recording
// (machine__set_current_tid), so they are written as `perf record --sample-cpu` would.
bool records_have_cpu(const RecordingConfig& config) {
  return !config.per_thread || config.switch_events;
}

std::vector<EventDescription> recorded_events(const RecordingConfig& config) {
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
  std::vector<EventDescription> events{{trace, config.event, {}},
                                       {tracking, tracking_event_name, {}}};
  std::uint64_t id = 0;
  for (EventDescription& event : events) {
    for (std::size_t lane = 0; lane < config.lanes.size(); ++lane) {
      event.ids.push_back(++id);
    }
  }
  return events;
}

ByteBuffer record_bytes(std::uint32_t type, std::uint16_t misc, const ByteBuffer& body) {
  ByteBuffer bytes;
  bytes.u32(type).u16(misc);
  return bytes.u16(static_cast<std::uint16_t>(sizeof(perf_event_header) + body.size()))
      .append(body);
}

ByteBuffer preamble(const RecordingConfig& config, const std::vector<EventDescription>& events) {
  ByteBuffer records;
  records.append(record_bytes(auxtrace_info, 0, trace_info(config)));
  records.append(record_bytes(time_conv, 0, time_conversion(config.conversion)));
  records.append(record_bytes(id_index, 0, ids(config, events)));
  return records.append(record_bytes(thread_map, 0, thread_names(config.threads)));
}

} // namespace ptlens::ptsim
