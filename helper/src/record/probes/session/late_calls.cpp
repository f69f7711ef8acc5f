#include "record/probes/session/late_calls.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ptlens::record {
namespace {

std::optional<std::uint64_t> word_at(std::span<const std::byte> raw, std::size_t offset) {
  std::uint64_t word = 0;
  if (raw.size() < offset + sizeof word) {
    return std::nullopt;
  }
  std::memcpy(&word, raw.data() + offset, sizeof word);
  return word;
}

} // namespace

LateCalls::LateCalls(std::string function, std::span<const Probe> probes,
                     std::uint64_t slower_than_ns)
    : function_(std::move(function)), slower_than_ns_(slower_than_ns) {
  for (const Probe& probe : probes) {
    if (probe.kind == Probe::Kind::goroutine_end) {
      goroutine_ends_.insert(probe.event_id);
    }
    if (!probe.target) {
      continue;
    }
    if (probe.goroutine) {
      of_goroutines_.insert(probe.event_id);
    }
    switch (probe.kind) {
    case Probe::Kind::entry:
      entries_.insert(probe.event_id);
      break;
    case Probe::Kind::exit:
      exits_.insert(probe.event_id);
      break;
    case Probe::Kind::returned:
      returns_.insert(probe.event_id);
      break;
    case Probe::Kind::restart:
      restarts_.insert(probe.event_id);
      break;
    case Probe::Kind::goroutine_end:
      break;
    }
  }
}

void LateCalls::add(std::int32_t tid, std::uint64_t time_ns, std::span<const std::byte> raw) {
  constexpr std::size_t sp_at = 16;
  constexpr std::size_t sp_after_return_at = 24;
  const auto type = word_at(raw, 0);
  if (slower_than_ns_ == 0 || caught_ || !type) {
    return;
  }
  const std::uint64_t event = *type & 0xffff; // u16 type, then flags and the pid
  const bool returned = returns_.contains(event);
  const bool restarts = restarts_.contains(event);
  const bool ends = goroutine_ends_.contains(event);
  auto stack_pointer = word_at(raw, returned ? sp_after_return_at : sp_at);
  if (!stack_pointer ||
      (!returned && !restarts && !ends && !entries_.contains(event) && !exits_.contains(event))) {
    return;
  }
  std::uint64_t stack = stack_of_thread(tid);
  if (ends || of_goroutines_.contains(event)) {
    const auto goroutine = goroutine_sample(raw);
    if (!goroutine) {
      return;
    }
    stack = stack_of(*goroutine, tid);
    stack_pointer = goroutine->place;
  }
  if (ends) {
    timer_.end(stack);
    return;
  }
  if (restarts) {
    timer_.restart(stack, *stack_pointer);
    return;
  }
  if (returned) {
    *stack_pointer -= sizeof(std::uint64_t); // it is behind the return address
  }
  const auto latency = timer_.add(stack, *stack_pointer, entries_.contains(event), time_ns);
  calls_ += latency ? 1 : 0;
  if (latency.value_or(0) > slower_than_ns_) {
    caught_ = SlowCall{.tid = tid, .latency_ns = *latency};
  }
}

Note LateCalls::note() const {
  return slow_call_note(function_, caught_, calls_, slower_than_ns_);
}

Note slow_call_note(const std::string& function, const std::optional<SlowCall>& slow,
                    std::uint64_t calls, std::uint64_t slower_than_ns) {
  const auto in_ms = [](std::uint64_t ns) {
    constexpr double ns_per_ms = 1e6;
    return fmt::format("{:.3f}", static_cast<double>(ns) / ns_per_ms);
  };
  if (slow) {
    return make_note("slow_call_caught",
                     "a call of {} took {} ms on thread {}, after {} calls. This time was measured "
                     "with probes",
                     function, in_ms(slow->latency_ns), slow->tid, calls);
  }
  return make_note("no_slow_call",
                   "none of the {} calls of {} took longer than {} ms, so no snapshot was stored "
                   "for one",
                   calls, function, in_ms(slower_than_ns));
}

} // namespace ptlens::record
