// libipt's block decoder, driven to runs of branches; see the header for how it goes on after gaps.
#include "flow/piece_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ptlens::flow {
namespace {

constexpr std::size_t tail_padding = 64; // libipt may read past an unfinished PSB
constexpr std::size_t most_branches_a_run = 8192;
constexpr std::uint64_t first_kernel_address = std::uint64_t{1} << 63U;
constexpr std::size_t most_time_steps = 1U << 20U;

} // namespace

PieceDecoder::PieceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer,
                           std::vector<std::span<const std::byte>> trace, bool truncated)
    : context_(&context), buffer_(&buffer), config_(context.config()), truncated_(truncated) {
  std::size_t size = 0;
  for (const auto& part : trace) {
    size += part.size();
  }
  bytes_.resize(size + tail_padding);
  std::uint8_t* at = bytes_.data();
  for (const auto& part : trace) {
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  config_.begin = bytes_.data();
  config_.end = bytes_.data() + size;
  cursor_.emplace(config_, context.clock());
  decoder_.reset(pt_blk_alloc_decoder(&config_));
  if (!decoder_) {
    state_ = State::ended;
  }
}

std::optional<Run> PieceDecoder::next() {
  for (;;) {
    if (ready_next_ < ready_.size()) {
      return std::move(ready_[ready_next_++]);
    }
    ready_.clear();
    ready_next_ = 0;
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
      if (truncated_) {
        truncated_ = false;
        if (owner_.tid > 0 && context_->is_recorded(owner_.pid)) {
          gap(GapReason::truncated, last_address_);
        }
      }
      break_run();
      if (ready_.empty()) {
        return std::nullopt;
      }
    }
  }
}

void PieceDecoder::break_run() {
  if (!run_.branches.empty() || run_.instructions != 0) {
    run_.pid = owner_.pid;
    run_.tid = owner_.tid;
    run_.cpu = buffer_->cpu;
    ready_.push_back(std::move(run_));
  }
  run_ = Run{};
}

void PieceDecoder::emit(BranchKind kind, std::uint64_t from, std::uint64_t to, std::uint8_t size) {
  if (run_.branches.size() >= most_branches_a_run) {
    break_run();
  }
  run_.branches.push_back({time_ns_, from, to, kind, GapReason::none, size});
  tracing_ = kind != BranchKind::off && !(kind == BranchKind::syscall && to == 0);
}

void PieceDecoder::gap(GapReason reason, std::uint64_t address) {
  if (in_gap_) {
    return;
  }
  emit(BranchKind::gap, address, 0, 0);
  run_.branches.back().gap = reason;
  ++gaps_;
  if (reason == GapReason::bad_trace || reason == GapReason::bad_instruction) {
    ++decode_errors_;
  }
  in_gap_ = true;
  tracing_ = false;
  returns_.clear();
}

void PieceDecoder::set_time(std::uint64_t tsc) {
  tsc_ = std::max(tsc_, tsc);
  time_ns_ = std::max(time_ns_, context_->to_ns(tsc_));
  has_time_ = true;
}

// libipt's own clock calibrates cycles across sleeps, in which none pass, and then runs ahead; the
// cursor's does not. It follows the decoder to the next packet that it has not consumed.
void PieceDecoder::read_time() {
  cursor_->advance_to(decoder_offset());
  if (const auto tsc = cursor_->flow_time()) {
    step_time(*tsc);
  }
}

void PieceDecoder::step_time(std::uint64_t tsc) {
  if (tsc <= tsc_) {
    return;
  }
  set_time(tsc);
  if (tracing_ && last_step_ns_ != 0 && time_ns_ > last_step_ns_ &&
      time_steps_.size() < most_time_steps) {
    time_steps_.push_back(time_ns_ - last_step_ns_);
  }
  last_step_ns_ = time_ns_;
}

std::uint64_t PieceDecoder::decoder_offset() const {
  std::uint64_t offset = 0;
  return pt_blk_get_offset(decoder_.get(), &offset) >= 0 ? offset : cursor_->offset();
}

// Whose trace begins now; true when its code was recorded.
bool PieceDecoder::owned_from(std::uint64_t tsc) {
  const Running owner = context_->owner(*buffer_, tsc);
  if (owner.tid != owner_.tid || buffer_->cpu >= 0) {
    break_run();
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
  last_step_ns_ = time_ns_;
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
    const std::uint64_t now = cursor_->clock().now().value_or(tsc_);
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
      continue;
    case ppt_fup:
      if (in_psb) {
        psb_address = packet->ip;
        continue;
      }
      if (!after_overflow_ || !packet->has_ip) {
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
        if (cursor_->clock().now()) {
          set_time(now);
        }
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
    if (image_ != nullptr && image_->holds(packet->ip)) {
      begin_at(packet->ip);
      return;
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
  if (const auto now = cursor_->clock().now()) {
    set_time(*now);
  }
  tracing_ = false;
  returns_.clear();
  state_ = State::running;
  return true;
}

void PieceDecoder::begin_at(std::uint64_t address) {
  if (const auto now = cursor_->clock().now()) {
    set_time(*now);
  }
  trace_on(address);
  walker_.emplace(*cursor_, *image_, returns_, address);
  state_ = State::walking;
}

void PieceDecoder::walk() {
  const PacketWalker::Stop stop = walker_->next();
  if (walker_->tsc() != 0) {
    step_time(walker_->tsc());
  }
  const std::uint64_t instructions = walker_->take_instructions();
  instructions_ += instructions;
  run_.instructions += instructions;
  last_address_ = walker_->address();
  GapReason reason = GapReason::bad_trace;
  switch (stop) {
  case PacketWalker::Stop::branch:
  case PacketWalker::Stop::off: {
    const Branch& branch = walker_->branch();
    emit(branch.kind, branch.from, branch.to, branch.from_size);
    last_address_ = branch.from;
    if (stop == PacketWalker::Stop::off) {
      state_ = State::seeking;
    } else if (outside(branch.to)) {
      run_.branches.back().to = 0;
      run_.branches.back().kind =
          branch.kind == BranchKind::syscall ? BranchKind::syscall : BranchKind::off;
      tracing_ = false;
      state_ = State::seeking;
    }
    return;
  }
  case PacketWalker::Stop::synchronised:
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
    read_time();
    trace_on(block.ip);
  }
  read_time();
  instructions_ += block.ninsn;
  run_.instructions += block.ninsn;
  pending_ = Pending{block.end_ip, time_ns_};
  last_address_ = block.end_ip;
}

void PieceDecoder::finish_block(std::uint64_t next) {
  const Pending block = *pending_;
  pending_.reset();
  const auto instruction = image_->instruction(block.address);
  if (!instruction) {
    return;
  }
  const std::uint64_t now = std::exchange(time_ns_, block.time_ns);
  switch (instruction->kind) {
  case InstructionClass::call_direct:
  case InstructionClass::call_indirect:
    emit(BranchKind::call, block.address, next, instruction->size);
    break;
  case InstructionClass::ret:
    emit(BranchKind::ret, block.address, next, instruction->size);
    break;
  case InstructionClass::jump_direct:
    emit(BranchKind::jump, block.address, next, instruction->size);
    break;
  case InstructionClass::jump_indirect:
    emit(BranchKind::indirect, block.address, next, instruction->size);
    break;
  case InstructionClass::conditional:
    if (next != block.address + instruction->size) {
      emit(BranchKind::cond, block.address, next, instruction->size);
    }
    break;
  case InstructionClass::far_call:
  case InstructionClass::far_return:
    if (next != block.address + instruction->size) {
      emit(BranchKind::syscall, block.address, next, instruction->size);
    }
    break;
  case InstructionClass::other:
    break;
  }
  time_ns_ = now;
}

void PieceDecoder::handle(const pt_event& event) {
  read_time();
  switch (event.type) {
  case ptev_enabled: {
    if (event.status_update != 0) {
      return;
    }
    if (!owned_from(tsc_)) {
      cursor_->advance_to(decoder_offset());
      state_ = State::seeking;
      return;
    }
    pt_blk_set_image(decoder_.get(), image_->libipt());
    trace_on(event.variant.enabled.ip);
    return;
  }
  case ptev_disabled: {
    const auto last = pending_ ? image_->instruction(pending_->address) : std::nullopt;
    const bool syscall = last && last->kind == InstructionClass::far_call;
    emit(syscall ? BranchKind::syscall : BranchKind::off, last_address_, 0,
         last ? last->size : std::uint8_t{0});
    pending_.reset();
    tracing_ = false;
    return;
  }
  case ptev_async_disabled:
    if (pending_) {
      finish_block(event.variant.async_disabled.at);
    }
    last_address_ = event.variant.async_disabled.at;
    emit(BranchKind::off, last_address_, 0, 0);
    return;
  case ptev_async_branch:
    if (pending_) {
      finish_block(event.variant.async_branch.from);
    }
    last_address_ = event.variant.async_branch.from;
    if (outside(event.variant.async_branch.to)) {
      emit(BranchKind::off, last_address_, 0, 0);
      return;
    }
    emit(BranchKind::interrupt, last_address_,
         event.ip_suppressed != 0 ? 0 : event.variant.async_branch.to, 0);
    return;
  case ptev_overflow:
    if (image_ != nullptr) {
      in_gap_ = false;
      gap(GapReason::overflow, last_address_);
      pending_.reset();
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
  if (pending_) {
    const auto instruction = image_->instruction(pending_->address);
    if (address == 0 && instruction) {
      if (instruction->kind == InstructionClass::other) {
        address = pending_->address + instruction->size;
      } else {
        address = instruction->target;
      }
    }
    if (status == -pte_nomap && outside(address)) {
      emit(BranchKind::syscall, pending_->address, 0, instruction ? instruction->size : 0);
    } else if (address != 0) {
      finish_block(address);
    }
  }
  if (status == -pte_nomap && outside(address)) {
    pending_.reset();
    cursor_->advance_to(decoder_offset());
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
  cursor_->advance_to(decoder_offset());
  state_ = State::seeking;
}

void PieceDecoder::summarise(DecodeSummary& summary) const {
  summary.instructions += instructions_;
  summary.decode_errors += decode_errors_;
  summary.gaps += gaps_;
  summary.unowned_bytes += unowned_bytes_;
  summary.has_time = summary.has_time || has_time_ || cursor_->clock().now();
}

} // namespace ptlens::flow
