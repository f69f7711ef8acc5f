// Decides where decoding begins, stops and continues. PacketWalker decodes in between.
#include "flow/decode/piece_decoder.hpp"

#include "flow/code/code_time.hpp"

#include <utility>

namespace ptlens::flow {
namespace {

constexpr std::uint64_t first_kernel_address = std::uint64_t{1} << 63U;

} // namespace

PieceDecoder::PieceDecoder(DecodeContext& context, const perfdata::AuxBuffer& buffer,
                           const TracePiece& piece, Stretch stretch)
    : context_(&context), buffer_(&buffer),
      packets_(piece, context.clock(), context.time_conversion(), stretch.begin), run_(buffer.cpu),
      truncated_(piece.truncated), walker_(packets_, returns_, run_), stretch_(stretch) {}

std::optional<Run> PieceDecoder::next() {
  for (;;) {
    while (auto run = run_.take()) {
      if (context_->is_asked_for(run->pid)) {
        return run;
      }
    }
    if (run_.is_long()) {
      run_.cut_run(owner_);
      continue;
    }
    switch (state_) {
    case State::seeking:
      seek();
      break;
    case State::walking:
      walk();
      break;
    case State::elsewhere:
      step();
      break;
    case State::paused:
      run_.cut_run(owner_);
      if (run_.empty()) {
        return std::nullopt;
      }
      break;
    case State::ended:
      finish();
      if (std::exchange(truncated_, false) && owner_.tid > 0 && context_->is_recorded(owner_.pid)) {
        decide_now();
        gap(GapReason::truncated, last_address_);
      }
      run_.break_run(owner_);
      if (run_.empty()) {
        return std::nullopt;
      }
      break;
    }
  }
}

void PieceDecoder::pause(State state, std::uint64_t psb_offset) {
  state_ = State::paused;
  paused_ = state;
  paused_at_ = psb_offset;
}

void PieceDecoder::go_on(DecodeContext& context, std::uint64_t end) {
  context_ = &context;
  stretch_.end = end;
  state_ = paused_;
  if (graph_ != nullptr) {
    graph_ = nullptr;
    set_code(code_ns_);
    walker_.move_to(*graph_, consumer_);
  }
}

void PieceDecoder::prime() {
  if (state_ == State::seeking && !entry_.passed) {
    seek();
  }
}

bool PieceDecoder::leads_to(const PieceDecoder& next) const {
  const Entry& entry = next.entry_;
  const std::optional<std::uint64_t> now = packets_.now_ns();
  if (!entry.passed || entry.timed != now.has_value() || in_gap_ || after_overflow_ ||
      !run_.is_plain_from(entry.time_ns)) {
    return false;
  }
  if (paused_ == State::walking) {
    return entry.begun && entry.owner.pid == owner_.pid && entry.owner.tid == owner_.tid &&
           graph_ != nullptr && entry.code == graph_->image().serial();
  }
  // The end of a piece reports the thread that ran last; bytes of an unknown owner are counted.
  return !truncated_ && (graph_ != nullptr || owner_.tid != 0);
}

bool PieceDecoder::follow(const PieceDecoder& before) {
  const bool walking = before.paused_ == State::walking;
  if (walking) {
    uncertain_owners_ -= entry_.uncertain_owners;
  }
  return walking;
}

void PieceDecoder::gap(GapReason reason, std::uint64_t address) {
  if (in_gap_) {
    return;
  }
  run_.add_decided({.from = address, .kind = BranchKind::gap, .gap = reason});
  if (context_->is_asked_for(owner_.pid)) {
    ++gaps_;
    if (reason == GapReason::bad_trace || reason == GapReason::bad_instruction) {
      ++decode_errors_;
    }
  }
  in_gap_ = true;
  tracing_ = false;
  returns_.clear();
}

// Dates the next branch to the last packet that was passed.
void PieceDecoder::decide_now() {
  if (const auto now = packets_.now_ns()) {
    run_.decide(TimeInterval{*now, *now});
  }
}

bool PieceDecoder::owned_from(std::uint64_t time_ns, std::uint64_t code_ns) {
  const perfdata::Running owner = context_->owner(*buffer_, time_ns);
  if (packets_.latest_ns() > time_ns &&
      context_->owner(*buffer_, packets_.latest_ns()).tid != owner.tid) {
    ++uncertain_owners_;
  }
  if (owner.tid != owner_.tid || buffer_->cpu >= 0) {
    run_.break_run(owner_);
    if (owner.tid != owner_.tid) {
      in_gap_ = false; // returns_ stays: the processor's return stack does not know threads
    }
  }
  owner_ = owner;
  if (owner_.tid <= 0 || !context_->is_recorded(owner_.pid)) {
    graph_ = nullptr;
    return false;
  }
  set_code(code_ns);
  walker_.set_same_until(context_->same_until(*buffer_, owner_.pid, time_ns, code_ns));
  return true;
}

// The code of the owner at that time runs from here on.
void PieceDecoder::set_code(std::uint64_t code_ns) {
  DecodeContext::Code& code = context_->code(owner_.pid, code_ns);
  code_ns_ = code_ns;
  if (&code.graph != graph_) {
    run_.set_code(code.image.serial(), context_->numbering(), code.graph.points(), owner_);
    returns_.forget_blocks();
  }
  graph_ = &code.graph;
  consumer_ = code.consumer.get();
}

void PieceDecoder::trace_on(std::uint64_t address) {
  in_gap_ = false;
  run_.add_decided({.to = address, .kind = BranchKind::on});
  tracing_ = true;
  last_address_ = address;
}

// Reads packets up to the next one at which code of this recording is known to run.
void PieceDecoder::seek() {
  bool in_psb = false;           // inside a PSB+
  std::uint64_t psb_offset = 0;  // where it begins
  std::uint64_t psb_address = 0; // its FUP, 0 where tracing is off
  while (const Packet* const peeked = packets_.peek()) {
    const Packet packet = *peeked;
    if (packet.kind == PacketKind::psb && packet.offset >= stretch_.end) {
      pause(State::seeking, packet.offset);
      return;
    }
    packets_.pop();
    passed(packet);
    const std::uint64_t now = packets_.now_ns().value_or(0);
    if (graph_ == nullptr && owner_.tid == 0 && !in_psb &&
        (packet.kind == PacketKind::tnt || packet.kind == PacketKind::tip)) {
      unowned_bytes_ += packet.size;
    }
    switch (packet.kind) {
    case PacketKind::psb:
      synchronised_ = true;
      returns_.clear();
      in_psb = true;
      psb_offset = packet.offset;
      psb_address = 0;
      run_.mark(psb_offset);
      continue;
    case PacketKind::fup:
      if (in_psb) {
        psb_address = packet.value;
        continue;
      }
      if (!after_overflow_ || !packet.has_ip || graph_ == nullptr) {
        continue;
      }
      break;
    case PacketKind::psbend:
      if (std::exchange(in_psb, false)) {
        const bool begun = psb_address != 0 && !begins_now() && owned_from(now, now) &&
                           graph_->image().holds(psb_address) &&
                           synchronise(psb_offset, psb_address, true);
        note_entry(begun);
        if (begun) {
          return;
        }
      }
      continue;
    case PacketKind::overflow:
      after_overflow_ = true;
      in_psb = false;
      if (graph_ != nullptr) {
        decide_now();
        in_gap_ = false;
        gap(GapReason::overflow, last_address_);
      }
      continue;
    case PacketKind::pge:
      if (!synchronised_ || !packet.has_ip ||
          !owned_from(now, code_time_of_on(packets_.latest_ns()))) {
        continue;
      }
      break;
    case PacketKind::tip:
      if (!synchronised_ || !packet.has_ip || graph_ == nullptr) {
        continue;
      }
      break;
    default:
      continue;
    }
    after_overflow_ = false;
    if (graph_->image().holds(packet.value)) {
      begin_at(packet.value, packet.sent());
      return;
    }
    if (!outside(packet.value)) {
      run_.decide(packet.sent());
      gap(GapReason::missing_code, packet.value);
    }
  }
  state_ = State::ended;
}

// Stores what the first PSB+ led to.
void PieceDecoder::note_entry(bool begun) {
  if (entry_.passed) {
    return;
  }
  const std::optional<std::uint64_t> now = packets_.now_ns();
  entry_ = {.passed = true,
            .begun = begun,
            .timed = now.has_value(),
            .time_ns = now.value_or(0),
            .owner = owner_,
            .code = graph_ == nullptr ? 0 : graph_->image().serial(),
            .uncertain_owners = uncertain_owners_};
}

// Returns true where the next packet switches tracing on: the PSB+ before it may state the address
// at which tracing is about to begin.
bool PieceDecoder::begins_now() {
  const Packet* const packet = packets_.peek();
  return packet != nullptr && packet->kind == PacketKind::pge;
}

bool PieceDecoder::synchronise(std::uint64_t psb_offset, std::uint64_t address, bool begins) {
  static_cast<void>(psb_offset);
  decide_now();
  if (begins) {
    begin_at(address, std::nullopt);
    returns_.clear();
  } else {
    walker_.pass_psb();
  }
  return true;
}

void PieceDecoder::begin_at(std::uint64_t address, const std::optional<TimeInterval>& when) {
  run_.decide(when);
  trace_on(address);
  walker_.begin(*graph_, consumer_, address);
  state_ = State::walking;
}

void PieceDecoder::walk() {
  const PacketWalker::Stop stop = walker_.next();
  const std::uint64_t instructions = walker_.take_instructions();
  context_->note_question(code_time_of_on(walker_.last_on_ns()));
  instructions_ += instructions;
  run_.count_instructions(instructions);
  last_address_ = walker_.address();
  GapReason reason = GapReason::bad_trace;
  switch (stop) {
  case PacketWalker::Stop::full:
    return;
  case PacketWalker::Stop::branch:
  case PacketWalker::Stop::off: {
    Branch branch = walker_.branch();
    if (stop == PacketWalker::Stop::off) {
      state_ = State::seeking;
    } else if (outside(branch.to)) {
      branch.to = 0;
      branch.kind = branch.kind == BranchKind::syscall ? BranchKind::syscall : BranchKind::off;
      state_ = State::seeking;
    }
    tracing_ = state_ == State::walking;
    if (walker_.is_hidden()) {
      if (walker_.decided()) {
        run_.hold(branch, run_.decided());
      }
    } else if (walker_.decided()) {
      run_.add_decided(branch);
    } else {
      run_.add_between(branch);
    }
    last_address_ = branch.from;
    return;
  }
  case PacketWalker::Stop::synchronised: {
    const std::uint64_t psb_offset = walker_.psb_offset();
    run_.mark(psb_offset);
    tracing_ = true;
    if (synchronise(psb_offset, walker_.address(), false)) {
      if (psb_offset >= stretch_.end) {
        pause(State::walking, psb_offset);
      }
      return;
    }
    break;
  }
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

// Returns true for kernel code that the recording does not have: time there is time outside user
// code, not a loss.
bool PieceDecoder::outside(std::uint64_t address) const {
  return address >= first_kernel_address && graph_ != nullptr && !graph_->image().holds(address);
}

void PieceDecoder::summarise(DecodeSummary& summary) const {
  summary.instructions += instructions_;
  summary.decode_errors += decode_errors_ + packets_.bad_packets(paused_at().value_or(UINT64_MAX));
  summary.gaps += gaps_;
  summary.unowned_bytes += unowned_bytes_;
  summary.uncertain_owners += uncertain_owners_;
  summary.has_time = summary.has_time || packets_.now_ns().has_value();
}

} // namespace ptlens::flow
