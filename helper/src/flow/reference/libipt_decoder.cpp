// libipt's blocks and events to branches; see the header for how it goes on after gaps.
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
  decoder_.reset(pt_blk_alloc_decoder(&config));
  if (!decoder_) {
    state_ = State::ended;
  }
}

void LibiptDecoder::emit(BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size) {
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

// libipt's own clock calibrates cycles across sleeps, in which none pass, and then runs ahead; the
// stream's does not. It follows the decoder to the next packet that it has not consumed.
void LibiptDecoder::read_packets() {
  advance_to(decoder_offset());
}

// libipt has used the packet that decides where a block's last instruction goes to, and may have
// read on to an event.
bool LibiptDecoder::decide_end(const Instruction& last) {
  const bool by_trace = last.kind != InstructionClass::other &&
                        last.kind != InstructionClass::call_direct &&
                        last.kind != InstructionClass::jump_direct;
  const Packet& packet = last_decision_;
  const bool is_far =
      last.kind == InstructionClass::far_call || last.kind == InstructionClass::far_return;
  if (!by_trace || (packet.bit_count != 0 && is_far)) {
    return false; // that it left user code, an event tells
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

// Where a block's last instruction goes to, by the packet that decides it: libipt tells only with
// the next block, and after an overflow that is another one.
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
  return pt_blk_get_offset(decoder_.get(), &offset) >= 0 ? offset : packets_.offset();
}

bool LibiptDecoder::synchronise(std::uint64_t psb_offset, std::uint64_t address, bool anew) {
  status_ = pt_blk_sync_set(decoder_.get(), psb_offset);
  if (status_ < 0) {
    return false;
  }
  pt_blk_set_image(decoder_.get(), graph_->image().libipt());
  decide_now();
  used_packet_ = last_decision_.end();
  pending_.reset();
  if (anew) {
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
  finish_decided_block();
}

void LibiptDecoder::step() {
  while ((status_ & pts_event_pending) != 0) {
    pt_event event;
    status_ = pt_blk_event(decoder_.get(), &event, sizeof event);
    if (status_ < 0) {
      fail(status_, pt_block{});
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
  pt_block block{};
  status_ = pt_blk_next(decoder_.get(), &block, sizeof block);
  if (status_ < 0 && block.ninsn == 0) {
    fail(status_, block);
    return;
  }
  accept(block);
  if (status_ < 0) {
    fail(status_, pt_block{});
  }
}

void LibiptDecoder::accept(const pt_block& block) {
  if (block.ninsn == 0) {
    return;
  }
  if (pending_) {
    finish_block(block.ip);
  } else if (!tracing_) {
    run_.decide(last_flow_.sent());
    switch_on(block.ip);
  }
  instructions_ += block.ninsn;
  run_.count_instructions(block.ninsn);
  last_address_ = block.end_ip;
  read_packets();
  if (const auto instruction = graph_->image().known_instruction(block.end_ip)) {
    const bool decided = decide_end(*instruction);
    pending_ = Pending{block.end_ip, *instruction, std::nullopt};
    if (decided) {
      pending_->next = decided_next(block.end_ip, *instruction);
    }
  }
}

// Where nothing follows that would tell where the last block went.
void LibiptDecoder::finish_decided_block() {
  if (pending_ && pending_->next) {
    last_address_ = *pending_->next;
    finish_block(last_address_);
  }
  pending_.reset();
}

void LibiptDecoder::finish_block(std::uint64_t next) {
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
  const bool told = !instruction.inside || context_->detail() == Detail::branches;
  if (instruction.kind == InstructionClass::call_direct ||
      instruction.kind == InstructionClass::jump_direct) {
    if (told) {
      run_.add_between(branch);
    }
    return;
  }
  const bool may_go_on = *kind == BranchKind::cond || *kind == BranchKind::syscall;
  if (may_go_on && next == behind) {
    return;
  }
  if (told) {
    emit(*kind, address, next, instruction.size);
  } else {
    run_.hold(branch, run_.decided());
    tracing_ = true;
  }
}

// The last branch left what is traced, for `to`, 0 where the trace does not say.
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
    pt_blk_set_image(decoder_.get(), graph_->image().libipt());
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
      finish_block(event.variant.async_disabled.at);
    }
    last_address_ = event.variant.async_disabled.at;
    run_.decide(last_disabling_.sent());
    emit(BranchKind::off, last_address_, 0, 0);
    return;
  case ptev_async_branch:
    if (pending_) {
      finish_block(event.variant.async_branch.from);
    }
    last_address_ = event.variant.async_branch.from;
    run_.decide(last_flow_.sent());
    if (outside(event.variant.async_branch.to)) {
      emit(BranchKind::off, last_address_, 0, 0);
      return;
    }
    emit(BranchKind::interrupt, last_address_,
         event.ip_suppressed != 0 ? 0 : event.variant.async_branch.to, 0);
    return;
  case ptev_overflow:
    if (graph_ != nullptr) {
      finish_decided_block();
      in_gap_ = false;
      decide_now();
      gap(GapReason::overflow, last_address_);
    }
    return;
  default:
    return;
  }
}

// A status below zero: what is it, and where can decoding go on?
void LibiptDecoder::fail(int status, const pt_block& block) {
  if (status == -pte_eos) {
    state_ = State::ended;
    return;
  }
  if (status == -pte_no_enable && !tracing_) { // tracing stays off up to the next PSB or the end
    advance_to(decoder_offset());
    state_ = State::seeking;
    return;
  }
  std::uint64_t address = block.ip;
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
      emit(BranchKind::syscall, end, 0, instruction.size);
    } else if (address != 0) {
      finish_block(address);
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
