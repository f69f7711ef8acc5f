// libipt's block decoder, driven to runs of branches; see the header for how it goes on after gaps.
#include "flow/piece_decoder.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::flow {
namespace {

constexpr std::uint64_t first_kernel_address = std::uint64_t{1} << 63U;

} // namespace

PieceDecoder::PieceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer,
                           const TracePiece& piece)
    : context_(&context), buffer_(&buffer), bytes_(piece), config_(context.config()),
      truncated_(piece.truncated), run_(context.time_conversion(), buffer.cpu) {
  config_.begin = bytes_.begin();
  config_.end = bytes_.end();
  std::vector<PacketCursor::Bound> bounds;
  for (const Announcement& announcement : piece.announcements) {
    bounds.push_back({announcement.end, context.time_conversion().to_tsc(announcement.time_ns)});
  }
  cursor_.emplace(config_, context.clock(), std::move(bounds));
  decoder_.reset(pt_blk_alloc_decoder(&config_));
  if (!decoder_) {
    state_ = State::ended;
  }
}

std::optional<Run> PieceDecoder::next() {
  for (;;) {
    if (auto run = run_.take()) {
      return run;
    }
    if (run_.is_long()) {
      run_.break_run(owner_);
      continue;
    }
    switch (state_) {
    case State::seeking:
      seek();
      break;
    case State::running:
      step();
      break;
    case State::walking:
      walk();
      break;
    case State::ended:
      finish_decided_block();
      if (truncated_) {
        truncated_ = false;
        if (owner_.tid > 0 && context_->is_recorded(owner_.pid)) {
          decide_now();
          gap(GapReason::truncated, last_address_);
        }
      }
      run_.break_run(owner_);
      return run_.take();
    }
  }
}

void PieceDecoder::emit(BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size) {
  run_.add_decided({.from = from, .to = to, .kind = kind, .from_size = size});
  tracing_ = kind != BranchKind::off && !(kind == BranchKind::syscall && to == 0);
}

void PieceDecoder::emit_between(BranchKind kind, std::uint64_t from, std::uint64_t to,
                                std::uint8_t size) {
  run_.add_between({.from = from, .to = to, .kind = kind, .from_size = size});
}

void PieceDecoder::gap(GapReason reason, std::uint64_t address) {
  if (in_gap_) {
    return;
  }
  run_.add_decided({.from = address, .kind = BranchKind::gap, .gap = reason});
  ++gaps_;
  if (reason == GapReason::bad_trace || reason == GapReason::bad_instruction) {
    ++decode_errors_;
  }
  in_gap_ = true;
  tracing_ = false;
  returns_.clear();
}

// libipt's own clock calibrates cycles across sleeps, in which none pass, and then runs ahead; the
// cursor's does not. It follows the decoder to the next packet that it has not consumed.
void PieceDecoder::read_packets() {
  cursor_->advance_to(decoder_offset());
}

// What is known happens where the cursor is.
void PieceDecoder::decide_now() {
  if (const auto now = cursor_->now()) {
    run_.decide(TscInterval{*now, *now});
  }
}

void PieceDecoder::decide_event() {
  run_.decide(cursor_->last_flow().sent);
}

// libipt has used the packet that decides where a block's last instruction goes to, and may have
// read on to an event.
bool PieceDecoder::decide_end(const Instruction& last) {
  const bool by_trace = last.kind != InstructionClass::other &&
                        last.kind != InstructionClass::call_direct &&
                        last.kind != InstructionClass::jump_direct;
  const PacketCursor::Packet& packet = cursor_->last_decision();
  const bool is_far =
      last.kind == InstructionClass::far_call || last.kind == InstructionClass::far_return;
  if (!by_trace || (packet.bit_count != 0 && is_far)) {
    return false; // that it left user code, an event tells
  }
  if (packet.end != used_packet_) {
    used_packet_ = packet.end;
    used_bits_ = 0;
  } else if (used_bits_ >= packet.bit_count) {
    return false;
  }
  run_.decide(packet.bit_count == 0 ? packet.sent : packet.when(++used_bits_));
  return true;
}

// Where a block's last instruction goes to, by the packet that decides it: libipt tells only with
// the next block, and after an overflow that is another one.
std::optional<std::uint64_t> PieceDecoder::decided_next(std::uint64_t address,
                                                        const Instruction& last) {
  const PacketCursor::Packet& packet = cursor_->last_decision();
  const bool by_address = packet.bit_count == 0;
  const bool taken = !by_address && (packet.bits >> (packet.bit_count - used_bits_) & 1U) != 0;
  switch (last.kind) {
  case InstructionClass::conditional:
    return by_address ? std::nullopt : std::optional(taken ? last.target : address + last.size);
  case InstructionClass::ret:
    return by_address ? std::optional(packet.ip) : returns_.pop();
  case InstructionClass::call_indirect:
  case InstructionClass::jump_indirect:
    return by_address ? std::optional(packet.ip) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::uint64_t PieceDecoder::decoder_offset() const {
  std::uint64_t offset = 0;
  return pt_blk_get_offset(decoder_.get(), &offset) >= 0 ? offset : cursor_->offset();
}

// Whose trace begins now; true when its code was recorded.
bool PieceDecoder::owned_from(std::uint64_t tsc) {
  const Running owner = context_->owner(*buffer_, tsc);
  if (owner.tid != owner_.tid || buffer_->cpu >= 0) {
    run_.break_run(owner_);
    if (owner.tid != owner_.tid) {
      in_gap_ = false;
      returns_.clear();
    }
  }
  owner_ = owner;
  if (owner_.tid <= 0 || !context_->is_recorded(owner_.pid)) {
    image_ = nullptr;
    return false;
  }
  CodeImage& image = context_->image(owner_.pid, context_->to_ns(tsc));
  image_ = &image;
  return true;
}

void PieceDecoder::trace_on(std::uint64_t address) {
  pending_.reset();
  in_gap_ = false;
  emit(BranchKind::on, 0, address, 0);
  last_address_ = address;
}

// Walks packets to the next place where this recording's code is known to run.
void PieceDecoder::seek() {
  pending_.reset();
  bool in_psb = false;           // inside a PSB+
  std::uint64_t psb_offset = 0;  // where it begins
  std::uint64_t psb_address = 0; // its FUP, 0 where tracing is off
  while (const auto packet = cursor_->next()) {
    const std::uint64_t now = cursor_->now().value_or(0);
    if (image_ == nullptr && owner_.tid == 0 && !in_psb &&
        (packet->type == ppt_tnt_8 || packet->type == ppt_tnt_64 || packet->type == ppt_tip)) {
      unowned_bytes_ += packet->end - packet->offset;
    }
    switch (packet->type) {
    case ppt_psb:
      synchronised_ = true;
      in_psb = true;
      psb_offset = packet->offset;
      psb_address = 0;
      run_.mark(psb_offset);
      continue;
    case ppt_fup:
      if (in_psb) {
        psb_address = packet->ip;
        continue;
      }
      if (!after_overflow_ || !packet->has_ip || image_ == nullptr) {
        continue;
      }
      break;
    case ppt_psbend:
      if (in_psb && psb_address != 0 && owned_from(now) && image_->holds(psb_address) &&
          begin_at_psb(psb_offset)) {
        return;
      }
      in_psb = false;
      continue;
    case ppt_ovf:
      after_overflow_ = true;
      in_psb = false;
      if (image_ != nullptr) {
        decide_now();
        in_gap_ = false;
        gap(GapReason::overflow, last_address_);
      }
      continue;
    case ppt_tip_pge:
      if (!synchronised_ || !packet->has_ip || !owned_from(now)) {
        continue;
      }
      break;
    case ppt_tip:
      if (!synchronised_ || !packet->has_ip || image_ == nullptr) {
        continue;
      }
      break;
    default:
      continue;
    }
    after_overflow_ = false;
    if (image_->holds(packet->ip)) {
      begin_at(packet->ip);
      return;
    }
    if (!outside(packet->ip)) {
      decide_event();
      gap(GapReason::missing_code, packet->ip);
    }
  }
  decode_errors_ += cursor_->bad_packets();
  state_ = State::ended;
}

bool PieceDecoder::begin_at_psb(std::uint64_t offset) {
  status_ = pt_blk_sync_set(decoder_.get(), offset);
  if (status_ < 0) {
    return false;
  }
  pt_blk_set_image(decoder_.get(), image_->libipt());
  decide_now();
  used_packet_ = cursor_->last_decision().end;
  tracing_ = false;
  returns_.clear();
  state_ = State::running;
  return true;
}

void PieceDecoder::begin_at(std::uint64_t address) {
  run_.decide(cursor_->last_flow().sent);
  trace_on(address);
  walker_.emplace(*cursor_, *image_, returns_, run_, address);
  state_ = State::walking;
}

void PieceDecoder::walk() {
  const PacketWalker::Stop stop = walker_->next();
  const std::uint64_t instructions = walker_->take_instructions();
  instructions_ += instructions;
  run_.count_instructions(instructions);
  last_address_ = walker_->address();
  GapReason reason = GapReason::bad_trace;
  switch (stop) {
  case PacketWalker::Stop::branch:
  case PacketWalker::Stop::off: {
    Branch branch = walker_->branch();
    if (stop == PacketWalker::Stop::off) {
      state_ = State::seeking;
    } else if (outside(branch.to)) {
      branch.to = 0;
      branch.kind = branch.kind == BranchKind::syscall ? BranchKind::syscall : BranchKind::off;
      state_ = State::seeking;
    }
    tracing_ = state_ == State::walking;
    if (walker_->decided()) {
      run_.add_decided(branch);
    } else {
      run_.add_between(branch);
    }
    last_address_ = branch.from;
    return;
  }
  case PacketWalker::Stop::synchronised:
    run_.mark(walker_->psb_offset());
    if (!begin_at_psb(walker_->psb_offset())) {
      gap(GapReason::bad_trace, last_address_);
      state_ = State::seeking;
    } else {
      tracing_ = true;
    }
    return;
  case PacketWalker::Stop::end:
    state_ = State::ended;
    return;
  case PacketWalker::Stop::overflow:
    after_overflow_ = true;
    reason = GapReason::overflow;
    decide_now();
    break;
  case PacketWalker::Stop::missing_code:
    reason = GapReason::missing_code;
    break;
  case PacketWalker::Stop::bad_instruction:
    reason = GapReason::bad_instruction;
    break;
  case PacketWalker::Stop::unknown_return:
    reason = GapReason::unknown_return;
    break;
  case PacketWalker::Stop::bad_trace:
    break;
  }
  gap(reason, last_address_);
  state_ = State::seeking;
}

void PieceDecoder::step() {
  while ((status_ & pts_event_pending) != 0) {
    pt_event event;
    status_ = pt_blk_event(decoder_.get(), &event, sizeof event);
    if (status_ < 0) {
      fail(status_, pt_block{});
      return;
    }
    handle(event);
    if (state_ != State::running) {
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

void PieceDecoder::accept(const pt_block& block) {
  if (block.ninsn == 0) {
    return;
  }
  if (pending_) {
    finish_block(block.ip);
  } else if (!tracing_) {
    decide_event();
    trace_on(block.ip);
  }
  instructions_ += block.ninsn;
  run_.count_instructions(block.ninsn);
  last_address_ = block.end_ip;
  read_packets();
  if (const auto instruction = image_->instruction(block.end_ip)) {
    const bool decided = decide_end(*instruction);
    pending_ = Pending{block.end_ip, *instruction, std::nullopt};
    if (decided) {
      pending_->next = decided_next(block.end_ip, *instruction);
    }
  }
}

// Where nothing follows that would tell where the last block went.
void PieceDecoder::finish_decided_block() {
  if (pending_ && pending_->next) {
    last_address_ = *pending_->next;
    finish_block(last_address_);
  }
  pending_.reset();
}

void PieceDecoder::finish_block(std::uint64_t next) {
  const std::uint64_t address = pending_->address;
  const Instruction instruction = pending_->instruction;
  pending_.reset();
  const auto kind = branch_kind(instruction.kind);
  if (!kind) {
    return;
  }
  const std::uint64_t behind = address + instruction.size;
  if (*kind == BranchKind::call && next != behind) {
    returns_.push(behind);
  }
  const bool direct = instruction.kind == InstructionClass::call_direct ||
                      instruction.kind == InstructionClass::jump_direct;
  if (direct) {
    emit_between(*kind, address, next, instruction.size);
    return;
  }
  const bool may_go_on = *kind == BranchKind::cond || *kind == BranchKind::syscall;
  if (!may_go_on || next != behind) {
    emit(*kind, address, next, instruction.size);
  }
}

// The last branch left what is traced, for `to`, 0 where the trace does not say.
void PieceDecoder::leave(std::uint64_t to) {
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

void PieceDecoder::handle(const pt_event& event) {
  read_packets();
  switch (event.type) {
  case ptev_enabled: {
    if (event.status_update != 0) {
      return;
    }
    if (!owned_from(cursor_->now().value_or(0))) {
      state_ = State::seeking;
      return;
    }
    pt_blk_set_image(decoder_.get(), image_->libipt());
    run_.decide(cursor_->last_enabling().sent);
    trace_on(event.variant.enabled.ip);
    return;
  }
  case ptev_disabled:
    run_.decide(cursor_->last_disabling().sent); // libipt may have read on
    leave(event.ip_suppressed != 0 ? 0 : event.variant.disabled.ip);
    return;
  case ptev_async_disabled:
    if (pending_) {
      finish_block(event.variant.async_disabled.at);
    }
    last_address_ = event.variant.async_disabled.at;
    run_.decide(cursor_->last_disabling().sent);
    emit(BranchKind::off, last_address_, 0, 0);
    return;
  case ptev_async_branch:
    if (pending_) {
      finish_block(event.variant.async_branch.from);
    }
    last_address_ = event.variant.async_branch.from;
    decide_event();
    if (outside(event.variant.async_branch.to)) {
      emit(BranchKind::off, last_address_, 0, 0);
      return;
    }
    emit(BranchKind::interrupt, last_address_,
         event.ip_suppressed != 0 ? 0 : event.variant.async_branch.to, 0);
    return;
  case ptev_overflow:
    if (image_ != nullptr) {
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

// Kernel code that the recording does not hold: time outside user code, not a loss.
bool PieceDecoder::outside(std::uint64_t address) const {
  return address >= first_kernel_address && image_ != nullptr && !image_->holds(address);
}

// A status below zero: what is it, and where can decoding go on?
void PieceDecoder::fail(int status, const pt_block& block) {
  if (status == -pte_eos) {
    state_ = State::ended;
    return;
  }
  if (status == -pte_no_enable && !tracing_) { // tracing stays off up to the next PSB or the end
    cursor_->advance_to(decoder_offset());
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
      decide_event();
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

void PieceDecoder::summarise(DecodeSummary& summary) const {
  summary.instructions += instructions_;
  summary.decode_errors += decode_errors_;
  summary.gaps += gaps_;
  summary.unowned_bytes += unowned_bytes_;
  summary.has_time = summary.has_time || cursor_->now().has_value();
}

} // namespace ptlens::flow
