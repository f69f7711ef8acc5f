// Packet generation rules.
#include "trace_unit.hpp"

namespace ptlens::ptsim {
namespace {

constexpr std::uint8_t outcomes_per_packet = 6;
constexpr std::size_t return_stack_depth = 64;
constexpr unsigned psb_base_shift = 11;

void push_bounded(std::vector<std::uint64_t>& stack, std::uint64_t address) {
  if (stack.size() == return_stack_depth) {
    stack.erase(stack.begin());
  }
  stack.push_back(address);
}

} // namespace

TraceUnit::TraceUnit(const TraceUnitConfig& config, Clock& clock, PacketWriter& packets)
    : config_(config), clock_(&clock), packets_(&packets) {}

void TraceUnit::trigger_on() {
  if (triggered_) {
    return;
  }
  triggered_ = true;
  cycles_sent_ = clock_->cycles();
  synchronise();
}

void TraceUnit::trigger_off() {
  triggered_ = false;
}

void TraceUnit::enter_user(std::uint64_t ip) {
  current_ip_ = ip;
  if (!triggered_ || in_user_) {
    return;
  }
  in_user_ = true;
  if (!mode_sent_) {
    count_cycles();
    packets_->mode_exec_64bit();
    mode_sent_ = true;
  }
  count_cycles();
  packets_->ip(IpPacket::tip_pge, ip);
}

void TraceUnit::interrupt(std::uint64_t ip) {
  if (!triggered_ || !in_user_) {
    return;
  }
  flush_outcomes();
  count_cycles();
  packets_->ip(IpPacket::fup, ip);
  leave_user();
}

void TraceUnit::retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next) {
  run(instruction.cycles);
  if (!triggered_ || !in_user_) {
    return;
  }
  current_ip_ = next;
  const std::uint64_t following = ip + instruction.length;
  switch (instruction.flow) {
  case FlowKind::none:
  case FlowKind::jump:
  case FlowKind::unsupported:
    break;
  case FlowKind::conditional:
    outcome(next != following);
    break;
  case FlowKind::indirect_jump:
    target(next);
    break;
  case FlowKind::call:
    if (!instruction.to_next) {
      push_return(following);
    }
    break;
  case FlowKind::indirect_call:
    push_return(following);
    target(next);
    break;
  case FlowKind::ret:
    if (pop_return(next)) {
      outcome(true);
    } else {
      target(next);
    }
    break;
  case FlowKind::syscall:
  case FlowKind::trap:
    flush_outcomes();
    leave_user();
    return;
  }
  if (packets_->total() - bytes_at_psb_ >= std::uint64_t{1}
                                               << (psb_base_shift + config_.psb_period)) {
    flush_outcomes();
    synchronise();
  }
}

void TraceUnit::run(std::uint64_t cycles) {
  if (!triggered_ || !config_.mtc) {
    clock_->run(cycles);
    return;
  }
  std::uint64_t until = clock_->cycles_until_ctc(next_mtc_);
  while (until <= cycles) {
    clock_->run(until);
    cycles -= until;
    count_cycles();
    packets_->mtc(static_cast<std::uint8_t>(next_mtc_ >> config_.mtc_period));
    next_mtc_ += std::uint64_t{1} << config_.mtc_period;
    until = clock_->cycles_until_ctc(next_mtc_);
  }
  clock_->run(cycles);
}

void TraceUnit::count_cycles() {
  const std::uint64_t cycles = clock_->cycles() - cycles_sent_;
  if (config_.cyc && cycles > 0) {
    packets_->cyc(cycles);
    cycles_sent_ = clock_->cycles();
  }
}

void TraceUnit::outcome(bool taken) {
  outcomes_ = static_cast<std::uint8_t>(outcomes_ << 1 | (taken ? 1 : 0));
  if (++outcome_count_ == outcomes_per_packet) {
    flush_outcomes();
  }
}

void TraceUnit::flush_outcomes() {
  if (outcome_count_ > 0) {
    count_cycles();
    packets_->tnt8(outcomes_, outcome_count_);
    outcomes_ = 0;
    outcome_count_ = 0;
  }
}

void TraceUnit::target(std::uint64_t ip) {
  flush_outcomes();
  count_cycles();
  packets_->ip(IpPacket::tip, ip);
}

void TraceUnit::leave_user() {
  count_cycles();
  packets_->pgd_without_ip();
  in_user_ = false;
}

void TraceUnit::synchronise() {
  count_cycles();
  bytes_at_psb_ = packets_->total();
  packets_->psb();
  if (config_.tsc) {
    packets_->tsc(clock_->tsc());
  }
  if (config_.tsc && config_.mtc) {
    packets_->tma(static_cast<std::uint16_t>(clock_->ctc()),
                  static_cast<std::uint16_t>(clock_->ticks_since_ctc()));
  }
  packets_->cbr(static_cast<std::uint8_t>(clock_->rates().core_ratio));
  if (in_user_) {
    packets_->mode_exec_64bit();
    packets_->ip(IpPacket::fup, current_ip_);
  }
  packets_->psbend();
  mode_sent_ = in_user_;
  next_mtc_ = ((clock_->ctc() >> config_.mtc_period) + 1) << config_.mtc_period;
  returns_popped_always_.clear();
  returns_popped_compressed_.clear();
}

void TraceUnit::push_return(std::uint64_t address) {
  push_bounded(returns_popped_always_, address);
  push_bounded(returns_popped_compressed_, address);
}

bool TraceUnit::pop_return(std::uint64_t address) {
  const bool agreed = !returns_popped_always_.empty() && !returns_popped_compressed_.empty() &&
                      returns_popped_always_.back() == address &&
                      returns_popped_compressed_.back() == address;
  const bool compressed = config_.return_compression && agreed;
  if (!returns_popped_always_.empty()) {
    returns_popped_always_.pop_back();
  }
  if (compressed) {
    returns_popped_compressed_.pop_back();
  }
  return compressed;
}

} // namespace ptlens::ptsim
