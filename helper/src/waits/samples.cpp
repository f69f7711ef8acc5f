#include "waits/samples.hpp"

#include "perfdata/bytes/byte_reader.hpp"

#include <bit>
#include <linux/perf_event.h>

namespace ptlens::waits {
namespace {

constexpr std::uint64_t flags_at = 2; // common_flags
constexpr std::uint64_t name_bytes = 16;
constexpr std::uint64_t common_bytes = 8;

// TASK_* and TASK_REPORT_MAX of include/linux/sched.h: the latter marks a preempted thread.
constexpr std::uint64_t state_mask = 0xff;
constexpr std::uint64_t dead_states = 0x10 | 0x20;
constexpr std::uint64_t preempted_mark = 0x100;

// TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ of include/linux/trace_events.h.
constexpr std::uint8_t interrupt_flags = 0x08 | 0x10;

std::vector<std::uint64_t> chain_in(std::span<const std::byte> chain, std::uint64_t wanted) {
  std::vector<std::uint64_t> addresses;
  std::uint64_t context = PERF_CONTEXT_USER;
  perfdata::ByteReader reader(chain);
  while (reader.remaining() >= sizeof(std::uint64_t)) {
    const auto value = reader.read<std::uint64_t>();
    if (value >= PERF_CONTEXT_MAX) {
      context = value;
    } else if (context == wanted) {
      addresses.push_back(value);
    }
  }
  return addresses;
}

} // namespace

bool SwitchFields::is_runnable() const {
  return (state & state_mask) == 0 || (state & preempted_mark) != 0;
}

bool SwitchFields::is_dead() const {
  return (state & dead_states) != 0;
}

std::optional<SwitchFields> switch_fields(std::span<const std::byte> raw) {
  perfdata::ByteReader reader(raw);
  SwitchFields fields;
  reader.skip(common_bytes);
  fields.name = reader.text(name_bytes);
  fields.tid = reader.read<std::int32_t>();
  reader.skip(sizeof(std::int32_t)); // priority
  fields.state = reader.read<std::uint64_t>();
  fields.next_name = reader.text(name_bytes);
  fields.next_tid = reader.read<std::int32_t>();
  return reader.failed() ? std::nullopt : std::optional(fields);
}

std::optional<WakingFields> waking_fields(std::span<const std::byte> raw) {
  perfdata::ByteReader reader(raw);
  WakingFields fields;
  reader.skip(flags_at);
  fields.in_interrupt = (reader.read<std::uint8_t>() & interrupt_flags) != 0;
  reader.skip(common_bytes - flags_at - 1 + name_bytes);
  fields.tid = reader.read<std::int32_t>();
  return reader.failed() ? std::nullopt : std::optional(fields);
}

std::optional<std::uint64_t> user_place(std::span<const std::byte> registers, std::uint64_t which) {
  constexpr unsigned instruction_pointer = 8; // PERF_REG_X86_IP
  const std::uint64_t before = which & ((std::uint64_t{1} << instruction_pointer) - 1);
  perfdata::ByteReader reader(registers);
  reader.skip(static_cast<std::uint64_t>(std::popcount(before)) * sizeof(std::uint64_t));
  const auto place = reader.read<std::uint64_t>();
  const bool has_it = ((which >> instruction_pointer) & 1U) != 0 && !reader.failed();
  return has_it ? std::optional(place) : std::nullopt;
}

std::vector<std::uint64_t> kernel_chain(std::span<const std::byte> chain) {
  return chain_in(chain, PERF_CONTEXT_KERNEL);
}

std::vector<std::uint64_t> user_chain(std::span<const std::byte> chain) {
  return chain_in(chain, PERF_CONTEXT_USER);
}

} // namespace ptlens::waits
