// Packet generation rules for what happens now and then.
#include "trace/trace_unit.hpp"

namespace ptlens::ptsim {
namespace {

constexpr unsigned psb_base_shift = 11;
constexpr std::uint64_t never = ~std::uint64_t{0};

} // namespace

TraceUnit::TraceUnit(const TraceUnitConfig& config, Clock& clock, PacketWriter& packets)
    : config_(config), clock_(&clock), packets_(&packets) {}

void TraceUnit::filter(std::uint64_t begin, std::uint64_t end) {
  filtered_ = true;
  ranges_ = {{begin, end}};
}

void TraceUnit::filter(const std::vector<AddressRange>* ranges) {
  filtered_ = ranges != nullptr;
  ranges_ = filtered_ ? *ranges : std::vector<AddressRange>{};
}

void TraceUnit::trigger_on() {
  if (triggered_) {
    return;
  }
  triggered_ = true;
  cycles_sent_ = clock_->cycles();
  synchronise(0);
}

void TraceUnit::trigger_off() {
  triggered_ = false;
}

void TraceUnit::enter_user(std::uint64_t ip) {
  if (!triggered_ || in_user_) {
    return;
  }
  in_user_ = true;
  if (in_range(ip)) {
    enable(ip);
  }
}

void TraceUnit::enable(std::uint64_t ip) {
  sending_ = true;
  if (!mode_sent_) {
    count_cycles();
    packets_->mode_exec_64bit();
    mode_sent_ = true;
  }
  count_cycles();
  packets_->ip(IpPacket::tip_pge, ip);
}

// Out of the filter's range, or into it: tracing goes off or on at this branch.
bool TraceUnit::crosses(std::uint64_t next) {
  if (!filtered_ || !triggered_ || !in_user_ || lost_ || sending_ == in_range(next)) {
    return false;
  }
  if (!sending_) {
    enable(next);
    return true;
  }
  flush_outcomes();
  count_cycles();
  packets_->ip(IpPacket::tip_pgd, next);
  sending_ = false;
  forget_returns();
  return true;
}

void TraceUnit::interrupt(std::uint64_t ip) {
  if (sending_) {
    flush_outcomes();
    count_cycles();
    packets_->ip(IpPacket::fup, ip);
  }
  leave_user();
}

void TraceUnit::interrupt_to(std::uint64_t ip, std::uint64_t entry) {
  if (sending_) {
    flush_outcomes();
    count_cycles();
    packets_->ip(IpPacket::fup, ip);
  }
  indirect_jump(entry);
}

void TraceUnit::leave_by_far_transfer() {
  if (sending_) {
    flush_outcomes();
  }
  leave_user();
}

void TraceUnit::retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next) {
  run(instruction.cycles);
  if (!triggered_ || !in_user_) {
    return;
  }
  const std::uint64_t following = ip + instruction.length;
  switch (instruction.flow) {
  case FlowKind::none:
  case FlowKind::unsupported:
    break;
  case FlowKind::jump:
    jump(next);
    break;
  case FlowKind::conditional:
    conditional(next != following, next);
    break;
  case FlowKind::indirect_jump:
    indirect_jump(next);
    break;
  case FlowKind::call:
    if (!instruction.to_next) {
      call(following, next);
    }
    break;
  case FlowKind::indirect_call:
    indirect_call(following, next);
    break;
  case FlowKind::ret:
    ret(next);
    break;
  case FlowKind::syscall:
  case FlowKind::trap:
    leave_by_far_transfer();
    return;
  }
  after_branch(next);
}

void TraceUnit::send_mtc(std::uint64_t cycles) {
  while (clock_->units() + clock_->units_of(cycles) >= mtc_due_) {
    const std::uint64_t until = clock_->cycles_until_ctc(next_mtc_);
    clock_->run(until);
    cycles -= until;
    if (!lost_) {
      count_cycles();
      packets_->mtc(static_cast<std::uint8_t>(next_mtc_ >> config_.mtc_period));
    }
    next_mtc_ += std::uint64_t{1} << config_.mtc_period;
    mtc_due_ = clock_->units_at_ctc(next_mtc_);
  }
  clock_->run(cycles);
}

void TraceUnit::flush() {
  if (sending_) {
    flush_outcomes();
  }
}

void TraceUnit::overflow() {
  lost_ = true;
  sending_ = false;
  outcomes_ = 0;
  outcome_count_ = 0;
}

void TraceUnit::recover(std::uint64_t ip) {
  if (!lost_) {
    return;
  }
  lost_ = false;
  packets_->ovf();
  cycles_sent_ = clock_->cycles();
  forget_returns();
  if (in_user_ && in_range(ip)) {
    sending_ = true;
    packets_->ip(IpPacket::fup, ip);
  }
}

void TraceUnit::stop_short() {
  triggered_ = false;
  in_user_ = false;
  lost_ = false;
  sending_ = false;
  outcomes_ = 0;
  outcome_count_ = 0;
}

void TraceUnit::stop_inside(std::size_t bytes) {
  packets_->cut(bytes);
  stop_short();
}

void TraceUnit::leave_user() {
  in_user_ = false;
  if (lost_) {
    recover(0);
    return;
  }
  if (sending_) {
    count_cycles();
    packets_->pgd_without_ip();
    sending_ = false;
  }
}

void TraceUnit::synchronise(std::uint64_t ip) {
  count_cycles();
  psb_due_ = packets_->total() + (std::uint64_t{1} << (psb_base_shift + config_.psb_period));
  packets_->psb();
  if (config_.tsc) {
    packets_->tsc(clock_->tsc());
  }
  if (config_.tsc && config_.mtc) {
    packets_->tma(static_cast<std::uint16_t>(clock_->ctc()),
                  static_cast<std::uint16_t>(clock_->ticks_since_ctc()));
  }
  packets_->cbr(static_cast<std::uint8_t>(clock_->rates().core_ratio));
  if (sending_) {
    packets_->mode_exec_64bit();
    packets_->ip(IpPacket::fup, ip);
  }
  packets_->psbend();
  mode_sent_ = sending_;
  next_mtc_ = ((clock_->ctc() >> config_.mtc_period) + 1) << config_.mtc_period;
  mtc_due_ = config_.mtc ? clock_->units_at_ctc(next_mtc_) : never;
  forget_returns();
}

void TraceUnit::forget_returns() {
  returns_popped_always_.clear();
  returns_popped_compressed_.clear();
}

} // namespace ptlens::ptsim
