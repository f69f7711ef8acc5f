// Turns libipt's instructions and events into branches.
#include "flow/reference/libipt_decoder.hpp"

#include "flow/code/code_time.hpp"

#include <utility>

namespace ptlens::flow {

LibiptDecoder::LibiptDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer,
                             const TracePiece& piece)
    : PieceDecoder(context, buffer, piece), bytes_(piece) {
  pt_config config = context.config();
  config.begin = bytes_.begin();
  config.end = bytes_.end();
  decoder_.reset(pt_insn_alloc_decoder(&config));
  if (!decoder_) {
    state_ = State::ended;
  }
}

void LibiptDecoder::emit_decided(BranchKind kind, std::uint64_t from, std::uint64_t to,
                                 std::uint8_t size) {
  run_.add_decided({.from = from, .to = to, .kind = kind, .from_size = size});
  tracing_ = kind != BranchKind::off && !(kind == BranchKind::syscall && to == 0);
}

void LibiptDecoder::passed(const Packet& packet) {
  switch (packet.kind) {
  case PacketKind::psb:
  case PacketKind::overflow:
  case PacketKind::binding:
    return;
  case PacketKind::pge:
    last_enabling_ = packet;
    break;
  case PacketKind::pgd:
    last_disabling_ = packet;
    break;
  case PacketKind::tnt:
    last_decision_ = packet;
    break;
  case PacketKind::tip:
    if (last_flow_.kind != PacketKind::fup) {
      last_decision_ = packet;
    }
    break;
  default:
    break;
  }
  last_flow_ = packet;
}

void LibiptDecoder::advance_to(std::uint64_t offset) {
  while (packets_.offset() < offset) {
    const Packet* const packet = packets_.peek();
    if (packet == nullptr || packet->offset >= offset) {
      return;
    }
    passed(*packet);
    packets_.pop();
  }
}

// Follows libipt to the next packet that it has not consumed. libipt's own clock is not used: it
// calibrates cycles across sleeps, in which no cycles pass, and then runs ahead.
void LibiptDecoder::read_packets() {
  advance_to(decoder_offset());
}

// libipt has used the packet that decides where the instruction goes to, and may have read on to an
// event.
bool LibiptDecoder::decide_end(const Instruction& last) {
  const bool by_trace = last.kind != InstructionClass::other &&
                        last.kind != InstructionClass::call_direct &&
                        last.kind != InstructionClass::jump_direct;
  const Packet& packet = last_decision_;
  const bool is_far =
      last.kind == InstructionClass::far_call || last.kind == InstructionClass::far_return;
  if (!by_trace || (packet.bit_count != 0 && is_far)) {
    return false; // an event reports that it left user code
  }
  if (packet.end() != used_packet_) {
    used_packet_ = packet.end();
    used_bits_ = 0;
  } else if (used_bits_ >= packet.bit_count) {
    return false;
  }
  run_.decide(packet.bit_count == 0 ? packet.sent() : packet.when(++used_bits_));
  return true;
}

// Returns where the instruction goes to, by the packet that decides it. libipt itself reports it
// with the next instruction only, which is another one after an overflow.
std::optional<std::uint64_t> LibiptDecoder::decided_next(std::uint64_t address,
                                                         const Instruction& last) {
  const Packet& packet = last_decision_;
  const bool by_address = packet.bit_count == 0;
  const bool taken = !by_address && (packet.value >> (packet.bit_count - used_bits_) & 1U) != 0;
  switch (last.kind) {
  case InstructionClass::conditional:
    return by_address ? std::nullopt : std::optional(taken ? last.target : address + last.size);
  case InstructionClass::ret: {
    const auto compressed = returns_.pop();
    if (by_address) {
      return packet.value;
    }
    return compressed ? std::optional(compressed->address) : std::nullopt;
  }
  case InstructionClass::call_indirect:
  case InstructionClass::jump_indirect:
    return by_address ? std::optional(packet.value) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::uint64_t LibiptDecoder::decoder_offset() const {
  std::uint64_t offset = 0;
  return pt_insn_get_offset(decoder_.get(), &offset) >= 0 ? offset : packets_.offset();
}

bool LibiptDecoder::synchronise(std::uint64_t psb_offset, std::uint64_t address, bool begins) {
  status_ = pt_insn_sync_set(decoder_.get(), psb_offset);
  if (status_ < 0) {
    return false;
  }
  pt_insn_set_image(decoder_.get(), graph_->image().libipt());
  decide_now();
  used_packet_ = last_decision_.end();
  pending_.reset();
  if (begins) {
    trace_on(address);
  }
  returns_.clear();
  state_ = State::elsewhere;
  return true;
}

void LibiptDecoder::switch_on(std::uint64_t address) {
  pending_.reset();
  trace_on(address);
}

void LibiptDecoder::finish() {
  finish_decided_instruction();
}

void LibiptDecoder::step() {
  while ((status_ & pts_event_pending) != 0) {
    pt_event event;
    status_ = pt_insn_event(decoder_.get(), &event, sizeof event);
    if (status_ < 0) {
      fail(status_, 0);
      return;
    }
    handle(event);
    if (state_ != State::elsewhere) {
      return;
    }
  }
  if ((status_ & pts_eos) != 0) {
    state_ = State::ended;
    return;
  }
  pt_insn instruction{};
  status_ = pt_insn_next(decoder_.get(), &instruction, sizeof instruction);
  if (instruction.iclass == ptic_error || instruction.size == 0) {
    fail(status_ < 0 ? status_ : -pte_bad_insn, instruction.ip);
    return;
  }
  accept(instruction);
  if (status_ < 0) {
    fail(status_, 0);
  }
}

void LibiptDecoder::accept(const pt_insn& instruction) {
  if (pending_) {
    finish_instruction(instruction.ip);
  } else if (!tracing_) {
    run_.decide(last_flow_.sent());
    switch_on(instruction.ip);
  }
  ++instructions_;
  run_.count_instructions(1);
  last_address_ = instruction.ip;
  read_packets();
  if (const auto last = graph_->image().known_instruction(instruction.ip)) {
    const bool decided = decide_end(*last);
    pending_ = Pending{instruction.ip, *last, std::nullopt};
    if (decided) {
      pending_->next = decided_next(instruction.ip, *last);
    }
  }
}

// Finishes the last instruction where no instruction follows that would show where it went.
void LibiptDecoder::finish_decided_instruction() {
  if (pending_ && pending_->next) {
    last_address_ = *pending_->next;
    finish_instruction(last_address_);
  }
  pending_.reset();
}

void LibiptDecoder::finish_instruction(std::uint64_t next) {
  const Pending pending = std::exchange(pending_, std::nullopt).value_or(Pending{});
  const std::uint64_t address = pending.address;
  const Instruction instruction = pending.instruction;
  const auto kind = branch_kind(instruction.kind);
  if (!kind) {
    return;
  }
  const std::uint64_t behind = address + instruction.size;
  if (*kind == BranchKind::call && next != behind) {
    returns_.push({behind, no_block});
  }
  const Branch branch{.from = address, .to = next, .kind = *kind, .from_size = instruction.size};
  const bool emitted = !instruction.inside || context_->detail() == Detail::branches;
  if (instruction.kind == InstructionClass::call_direct ||
      instruction.kind == InstructionClass::jump_direct) {
    if (emitted) {
      run_.add_between(branch);
    }
    return;
  }
  const bool may_go_on = *kind == BranchKind::cond || *kind == BranchKind::syscall;
  if (may_go_on && next == behind) {
    return;
  }
  if (emitted) {
    emit_decided(*kind, address, next, instruction.size);
  } else {
    run_.hold(branch, run_.decided());
    tracing_ = true;
  }
}

// The last branch left the traced code, for `to`; 0: the trace does not name the address.
void LibiptDecoder::leave(std::uint64_t to) {
  Branch branch{.from = last_address_, .to = to, .kind = BranchKind::off};
  if (pending_) {
    branch.leaving = branch_kind(pending_->instruction.kind).value_or(BranchKind::off);
    branch.from_size = pending_->instruction.size;
  }
  if (branch.leaving == BranchKind::syscall) {
    branch.kind = BranchKind::syscall;
    branch.to = 0;
  }
  pending_.reset();
  run_.add_decided(branch);
  tracing_ = false;
}

void LibiptDecoder::handle(const pt_event& event) {
  read_packets();
  switch (event.type) {
  case ptev_enabled: {
    if (event.status_update != 0) {
      return;
    }
    if (!owned_from(packets_.now_ns().value_or(0), code_time_of_on(last_enabling_.latest_ns))) {
      state_ = State::seeking;
      return;
    }
    pt_insn_set_image(decoder_.get(), graph_->image().libipt());
    run_.decide(last_enabling_.sent());
    switch_on(event.variant.enabled.ip);
    return;
  }
  case ptev_disabled:
    run_.decide(last_disabling_.sent()); // libipt may have read on
    leave(event.ip_suppressed != 0 ? 0 : event.variant.disabled.ip);
    return;
  case ptev_async_disabled:
    if (pending_) {
      finish_instruction(event.variant.async_disabled.at);
    }
    last_address_ = event.variant.async_disabled.at;
    run_.decide(last_disabling_.sent());
    emit_decided(BranchKind::off, last_address_, 0, 0);
    return;
  case ptev_async_branch:
    if (pending_) {
      finish_instruction(event.variant.async_branch.from);
    }
    last_address_ = event.variant.async_branch.from;
    run_.decide(last_flow_.sent());
    if (outside(event.variant.async_branch.to)) {
      emit_decided(BranchKind::off, last_address_, 0, 0);
      return;
    }
    emit_decided(BranchKind::interrupt, last_address_,
                 event.ip_suppressed != 0 ? 0 : event.variant.async_branch.to, 0);
    return;
  case ptev_overflow:
    if (graph_ != nullptr) {
      finish_decided_instruction();
      in_gap_ = false;
      decide_now();
      gap(GapReason::overflow, last_address_);
    }
    return;
  default:
    return;
  }
}

// Handles a status below zero: finds the reason, and where decoding can continue. `failed_at`: the
// address of the instruction that libipt could not decode, 0 where it did not come to one.
void LibiptDecoder::fail(int status, std::uint64_t failed_at) {
  if (status == -pte_eos) {
    state_ = State::ended;
    return;
  }
  if (status == -pte_no_enable && !tracing_) { // tracing stays off up to the next PSB or the end
    advance_to(decoder_offset());
    state_ = State::seeking;
    return;
  }
  std::uint64_t address = failed_at;
  read_packets();
  if (pending_) {
    const std::uint64_t end = pending_->address;
    const Instruction instruction = pending_->instruction;
    if (address == 0) {
      address = pending_->next.value_or(instruction.kind == InstructionClass::other
                                            ? end + instruction.size
                                            : instruction.target);
    }
    if (status == -pte_nomap && outside(address)) {
      run_.decide(last_flow_.sent());
      emit_decided(BranchKind::syscall, end, 0, instruction.size);
    } else if (address != 0) {
      finish_instruction(address);
    }
  }
  if (status == -pte_nomap && outside(address)) {
    pending_.reset();
    state_ = State::seeking;
    return;
  }
  GapReason reason = GapReason::bad_trace;
  if (status == -pte_nomap) {
    reason = GapReason::missing_code;
  } else if (status == -pte_bad_insn) {
    reason = GapReason::bad_instruction;
  } else if (status == -pte_retstack_empty) {
    reason = GapReason::unknown_return;
  }
  gap(reason, address != 0 ? address : last_address_);
  pending_.reset();
  state_ = State::seeking;
}

} // namespace ptlens::flow
