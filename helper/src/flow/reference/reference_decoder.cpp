// Turns libipt's instructions and events into branches.
#include "flow/reference/reference_decoder.hpp"

#include "flow/code/code_time.hpp"

#include <utility>

namespace ptlens::flow {

ReferenceDecoder::ReferenceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer,
                                   const TracePiece& piece)
    : context_(&context), buffer_(&buffer), bytes_(piece),
      packets_(piece, context.clock(), context.time_conversion()),
      nothing_(pt_image_alloc("nothing"), pt_image_free) {
  pt_config config = context.config();
  config.flags = {};
  config.begin = bytes_.begin();
  config.end = bytes_.end();
  decoder_.reset(pt_insn_alloc_decoder(&config));
  ended_ = !decoder_ || !nothing_;
}

std::uint64_t ReferenceDecoder::offset() const {
  std::uint64_t offset = 0;
  return pt_insn_get_offset(decoder_.get(), &offset) >= 0 ? offset : packets_.offset();
}

std::optional<ReferenceDecoder::Event> ReferenceDecoder::next() {
  while (events_.empty() && !ended_) {
    if (synchronised_) {
      step();
    } else {
      synchronise();
    }
  }
  if (events_.empty()) {
    return std::nullopt;
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void ReferenceDecoder::synchronise() {
  status_ = pt_insn_sync_forward(decoder_.get());
  if (status_ < 0) {
    ended_ = true;
    return;
  }
  std::uint64_t at = 0;
  pt_insn_get_sync_offset(decoder_.get(), &at);
  events_.push_back({.kind = Event::Kind::synchronised, .offset = at, .branch = {}, .error = {}});
  synchronised_ = true;
  on_ = false;
  last_ = pt_insn{};
  adopt_owner();
}

// Sets the code of the process that runs from here on.
void ReferenceDecoder::adopt_owner() {
  packets_.advance_to(offset());
  const std::uint64_t now = packets_.now_ns().value_or(0);
  const std::uint64_t code_ns = std::max(now, code_time_of_on(packets_.latest_ns()));
  const perfdata::Running owner = context_->owner(*buffer_, now);
  const bool ours = owner.tid > 0 && context_->is_recorded(owner.pid);
  pt_insn_set_image(decoder_.get(),
                    ours ? context_->graph(owner.pid, code_ns).image().libipt() : nothing_.get());
}

void ReferenceDecoder::emit(BranchKind kind, std::uint64_t from, std::uint64_t to) {
  Event event;
  event.offset = offset();
  event.branch.kind = kind;
  event.branch.from = from;
  event.branch.to = to;
  events_.push_back(std::move(event));
}

// An event or the end came before libipt reported the next instruction.
void ReferenceDecoder::leave_unfinished() {
  if (last_.size != 0 && last_.iclass != ptic_other) {
    Event event;
    event.kind = Event::Kind::unfinished;
    event.offset = offset();
    event.branch.from = last_.ip;
    events_.push_back(std::move(event));
  }
  last_ = pt_insn{};
}

void ReferenceDecoder::begin(std::uint64_t address) {
  if (!std::exchange(on_, true)) {
    emit(BranchKind::on, 0, address);
  }
}

void ReferenceDecoder::follow(std::uint64_t next) {
  if (last_.size == 0) {
    return;
  }
  const pt_insn last = std::exchange(last_, pt_insn{});
  const bool elsewhere = next != last.ip + last.size;
  switch (last.iclass) {
  case ptic_call:
    emit(BranchKind::call, last.ip, next);
    break;
  case ptic_return:
    emit(BranchKind::ret, last.ip, next);
    break;
  case ptic_jump:
    emit(BranchKind::jump, last.ip, next);
    break;
  case ptic_cond_jump:
    if (elsewhere) {
      emit(BranchKind::cond, last.ip, next);
    }
    break;
  case ptic_far_call:
  case ptic_far_return:
  case ptic_far_jump:
    if (elsewhere) {
      emit(BranchKind::syscall, last.ip, next);
    }
    break;
  default:
    break;
  }
}

void ReferenceDecoder::handle(const pt_event& event) {
  switch (event.type) {
  case ptev_enabled:
    if (event.status_update == 0) {
      adopt_owner();
      enabled_at_ = event.variant.enabled.ip; // `on` follows once code is known to run there
    }
    return;
  case ptev_disabled: {
    begin(enabled_at_);
    const bool system_call = last_.size != 0 && last_.iclass == ptic_far_call;
    emit(system_call ? BranchKind::syscall : BranchKind::off, last_.ip, 0);
    last_ = pt_insn{};
    on_ = false;
    return;
  }
  case ptev_async_disabled:
    begin(event.variant.async_disabled.at);
    follow(event.variant.async_disabled.at);
    emit(BranchKind::off, event.variant.async_disabled.at, 0);
    on_ = false;
    return;
  case ptev_async_branch:
    begin(event.variant.async_branch.from);
    follow(event.variant.async_branch.from);
    emit(BranchKind::interrupt, event.variant.async_branch.from,
         event.ip_suppressed != 0 ? 0 : event.variant.async_branch.to);
    return;
  case ptev_overflow:
    leave_unfinished();
    on_ = false;
    emit(BranchKind::gap, 0, 0);
    return;
  default:
    return;
  }
}

void ReferenceDecoder::lose(int status) {
  if (status == -pte_eos) {
    ended_ = true;
    return;
  }
  Event event;
  event.kind = Event::Kind::lost;
  event.offset = offset();
  event.branch.from = last_.ip;
  event.error = pt_errstr(pt_errcode(status));
  events_.push_back(std::move(event));
  synchronised_ = false;
}

void ReferenceDecoder::step() {
  while ((status_ & pts_event_pending) != 0) {
    pt_event event;
    status_ = pt_insn_event(decoder_.get(), &event, sizeof event);
    if (status_ < 0) {
      lose(status_);
      return;
    }
    handle(event);
  }
  if ((status_ & pts_eos) != 0) {
    leave_unfinished();
    ended_ = true;
    return;
  }
  pt_insn instruction{};
  status_ = pt_insn_next(decoder_.get(), &instruction, sizeof instruction);
  if (instruction.iclass == ptic_error || (status_ < 0 && instruction.size == 0)) {
    lose(status_ < 0 ? status_ : -pte_bad_insn);
    return;
  }
  begin(instruction.ip);
  follow(instruction.ip);
  last_ = instruction;
  if (status_ < 0) {
    lose(status_);
  }
}

} // namespace ptlens::flow
