// Recordings with samples of the scheduler's tracepoints, written by hand. The payloads are those
// of events/sched/*/format in tracefs.
#pragma once

#include "perfdata/perf_data_builder.hpp"
#include "perfdata/perfdata_test_support.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptlens::waits::test {

using ptlens::test::Bytes;
using ptlens::test::Event;
using ptlens::test::PerfDataBuilder;

inline constexpr std::uint64_t tracepoint_fields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                                                   PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                                   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
inline constexpr std::uint64_t switch_id = 2;
inline constexpr std::uint64_t waking_id = 3;
inline constexpr std::uint64_t outside_id = 4; // wakings on all CPUs, without the user's stacks

// `on_all_cpus`: with a second event of wakings, by threads that are not recorded.
inline PerfDataBuilder scheduler_recording(bool on_all_cpus = false) {
  std::vector<Event> events = {Event{},
                               Event{.type = PERF_TYPE_TRACEPOINT,
                                     .config = 372,
                                     .sample_type = tracepoint_fields,
                                     .ids = {switch_id},
                                     .name = "sched:sched_switch"},
                               Event{.type = PERF_TYPE_TRACEPOINT,
                                     .config = 375,
                                     .sample_type = tracepoint_fields,
                                     .ids = {waking_id},
                                     .name = "sched:sched_waking"}};
  if (on_all_cpus) {
    events.push_back(events.back());
    events.back().ids = {outside_id};
  }
  PerfDataBuilder builder(events);
  builder.event_names();
  return builder;
}

// Returns the fields of a tracepoint: unsigned short type, u8 flags, u8 preempt_count, int pid.
inline Bytes common_fields(std::uint16_t type, std::uint8_t flags, std::int32_t pid) {
  return Bytes().add(type).add(flags).add(std::uint8_t{0}).add(pid);
}

inline Bytes name_field(std::string_view name) {
  return Bytes().text(name, 16);
}

struct SwitchOut {
  std::int32_t tid = 0;
  std::uint64_t time = 0;
  std::uint64_t state = 1;
  std::int32_t next_tid = 0;
  std::string_view next_name = "swapper/0";
  std::vector<std::uint64_t> kernel = {};
};

inline Bytes switch_payload(const SwitchOut& out) {
  return common_fields(372, 0, out.tid)
      .add(name_field("app"))
      .add(out.tid)
      .add(120)
      .add(out.state)
      .add(name_field(out.next_name))
      .add(out.next_tid)
      .add(120);
}

inline Bytes waking_payload(std::int32_t waker, std::int32_t tid, std::uint8_t flags) {
  return common_fields(375, flags, waker).add(name_field("app")).add(tid).add(120).add(0);
}

inline void add_sample(PerfDataBuilder& builder, std::uint64_t id, std::int32_t tid,
                       std::uint64_t time, const std::vector<std::uint64_t>& kernel,
                       const Bytes& raw, std::int32_t pid = 7) {
  Bytes payload;
  payload.add(id).add(pid).add(tid).add(time).add(0).add(0);
  payload.add(std::uint64_t{kernel.size() + 1})
      .add(static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL));
  for (const std::uint64_t address : kernel) {
    payload.add(address);
  }
  const std::size_t padding = (8 - (4 + raw.size()) % 8) % 8;
  payload.add(static_cast<std::uint32_t>(raw.size() + padding)).add(raw).zeros(padding);
  builder.raw(ptlens::test::record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, payload));
}

inline void add_switch_out(PerfDataBuilder& builder, const SwitchOut& out) {
  add_sample(builder, switch_id, out.tid, out.time, out.kernel, switch_payload(out));
}

inline void add_waking(PerfDataBuilder& builder, std::int32_t waker, std::int32_t tid,
                       std::uint64_t time, std::uint8_t flags = 0,
                       const std::vector<std::uint64_t>& kernel = {}, std::int32_t pid = 7) {
  add_sample(builder, waking_id, waker, time, kernel, waking_payload(waker, tid, flags), pid);
}

inline void add_outside_waking(PerfDataBuilder& builder, std::int32_t waker, std::int32_t pid,
                               std::int32_t tid, std::uint64_t time, std::uint8_t flags = 0,
                               const std::vector<std::uint64_t>& kernel = {}) {
  add_sample(builder, outside_id, waker, time, kernel, waking_payload(waker, tid, flags), pid);
}

} // namespace ptlens::waits::test
