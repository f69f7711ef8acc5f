// Frames by return address and stack pointer.
#include "truth/call_truth.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace ptlens::ptsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t return_address_size = 8;
constexpr std::uint64_t largest_signal_frame = 32 << 10;
constexpr std::uint64_t largest_signal_stack = 8 << 20;

std::string hex(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

void write_line(std::ostream& out, const Json& line) {
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

} // namespace

CallTruth::CallTruth(std::ostream& out, std::ostream* filtered, Process& process, pid_t tid)
    : out_(&out), filtered_(filtered), process_(&process), places_(&process.places()), tid_(tid) {}

void CallTruth::write_header(std::ostream& out, std::uint64_t tsc_hz) {
  write_line(out, {{"format", "ptsim-truth"}, {"version", 1}, {"tsc_hz", tsc_hz}});
}

void CallTruth::begin(std::uint64_t ip, std::uint64_t stack_pointer, std::uint64_t stack_top,
                      Moment now) {
  const bool at_entry = places_->at(ip).at_entry;
  stacks_[current_].lowest = stack_pointer;
  stacks_[current_].highest = stack_pointer;
  open(Kind::root, ip, at_entry ? stack_pointer : 0, at_entry ? stack_top : 0, 0, now);
}

void CallTruth::open(Kind kind, std::uint64_t entry, std::uint64_t slot,
                     std::uint64_t return_address, std::uint64_t caller, Moment now) {
  Frame frame;
  frame.kind = kind;
  frame.place = places_->at(entry);
  frame.in_stub = frame.place.stub;
  frame.slot = slot;
  frame.return_address = return_address;
  frame.caller = caller;
  frame.start = now;
  const auto written = [](const Frame& other) {
    return other.kind != Kind::interruption && other.kind != Kind::local_call;
  };
  frame.depth = static_cast<std::size_t>(std::ranges::count_if(frames(), written));
  if (kind != Kind::local_call) {
    frame.number = begun_++;
  }
  const auto below =
      std::ranges::find_if(frames().rbegin(), frames().rend(),
                           [](const Frame& other) { return other.kind != Kind::local_call; });
  if (below != frames().rend() && below->kind != Kind::interruption) {
    frame.parent = below->number;
  }
  frames().push_back(std::move(frame));
}

void CallTruth::retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next,
                       std::uint64_t stack_pointer, Moment now) {
  if (!in_handler(stack_pointer)) {
    if (instruction.loads_stack) {
      switch_stack(stack_pointer);
    }
    Stack& stack = stacks_[current_];
    stack.lowest = std::min(stack.lowest, stack_pointer);
    stack.highest = std::max(stack.highest, stack_pointer);
  }
  switch (instruction.flow) {
  case FlowKind::call:
  case FlowKind::indirect_call:
    unwind(stack_pointer + return_address_size, now);
    call(ip, ip + instruction.length, next, stack_pointer, now);
    return;
  case FlowKind::conditional:
  case FlowKind::jump:
  case FlowKind::indirect_jump:
    if (!begin_stack(next, stack_pointer, now) &&
        !finish_returned(instruction, next, stack_pointer, now)) {
      jump(instruction, ip, next, stack_pointer, now);
    }
    return;
  case FlowKind::ret:
    unwind(stack_pointer - return_address_size - instruction.extra_popped, now);
    if (!begin_stack(next, stack_pointer, now) &&
        !finish_returned(instruction, next, stack_pointer, now)) {
      ret(instruction, ip, next, stack_pointer, now);
    }
    return;
  default:
    return;
  }
}

void CallTruth::call(std::uint64_t ip, std::uint64_t return_address, std::uint64_t next,
                     std::uint64_t stack_pointer, Moment now) {
  if (next == return_address) {
    return;
  }
  const Place& target = places_->at(next);
  const bool inside = !target.at_entry && target.entry == places_->at(ip).entry;
  const bool stub_inside = inside && !frames().empty() && frames().back().in_stub;
  if (!stub_inside) {
    open(inside ? Kind::local_call : Kind::call, next, stack_pointer, return_address, ip, now);
  }
}

void CallTruth::jump(const Instruction& instruction, std::uint64_t ip, std::uint64_t next,
                     std::uint64_t stack_pointer, Moment now) {
  unwind(stack_pointer, now);
  if (frames().empty()) {
    return;
  }
  Frame& top = frames().back();
  const Place& target = places_->at(next);
  if (top.in_stub) { // code without a name behind a stub is the dynamic linker's
    top.in_stub = target.stub || target.symbol.empty();
    top.place = target;
    return;
  }
  if (stack_pointer != top.slot || !(target.at_entry || target.stub)) {
    return;
  }
  const Place& source = places_->at(ip);
  const bool itself =
      source.entry == target.entry || same_source_function(source.symbol, target.symbol);
  if (top.kind == Kind::local_call) { // its return address serves another function
    open(Kind::call, next, top.slot, top.return_address, top.caller, now);
  } else if (!itself || instruction.flow == FlowKind::indirect_jump) {
    open(Kind::tail_call, next, top.slot, top.return_address, ip, now);
  }
}

void CallTruth::ret(const Instruction& instruction, std::uint64_t ip, std::uint64_t next,
                    std::uint64_t stack_pointer, Moment now) {
  unwind(stack_pointer, now);
  if (!frames().empty() && frames().back().slot >= stack_pointer) {
    jump(instruction, ip, next, stack_pointer, now); // its target was pushed, or is a landing pad
    return;
  }
  if (frames().size() == 1 && frames().back().kind == Kind::root) {
    close(State::incomplete, now);
  }
  if (frames().empty()) { // back in a caller whose call was not seen
    open(Kind::root, next, 0, 0, 0, now);
  }
}

// A handler may have a stack of its own, which is part of no other.
bool CallTruth::in_handler(std::uint64_t stack_pointer) {
  const auto interruption =
      std::ranges::find(frames().rbegin(), frames().rend(), Kind::interruption, &Frame::kind);
  return interruption != frames().rend() && stack_pointer >= interruption->lowest &&
         stack_pointer < interruption->highest;
}

void CallTruth::switch_stack(std::uint64_t stack_pointer) {
  const auto used = [stack_pointer](const Stack& stack) {
    return stack.lowest <= stack_pointer && stack_pointer <= stack.highest;
  };
  if (used(stacks_[current_])) {
    return;
  }
  const auto known = std::ranges::find_if(stacks_, used);
  current_ = static_cast<std::size_t>(known - stacks_.begin());
  if (known == stacks_.end()) {
    Stack stack;
    stack.lowest = stack_pointer;
    stack.highest = stack_pointer;
    stack.fresh = true;
    stacks_.push_back(std::move(stack));
  }
}

// The first transfer of control on a stack enters what it is for.
bool CallTruth::begin_stack(std::uint64_t next, std::uint64_t stack_pointer, Moment now) {
  if (!std::exchange(stacks_[current_].fresh, false)) {
    return false;
  }
  const bool at_entry = places_->at(next).at_entry;
  open(at_entry ? Kind::call : Kind::root, next, at_entry ? stack_pointer : 0, 0, 0, now);
  return true;
}

bool CallTruth::finish_returned(const Instruction& instruction, std::uint64_t next,
                                std::uint64_t stack_pointer, Moment now) {
  if (frames().empty()) {
    return false;
  }
  const Frame& top = frames().back();
  const bool first = top.kind == Kind::call && top.return_address == 0; // of its stack
  if (top.slot == 0 || (first ? instruction.flow != FlowKind::ret : next != top.return_address) ||
      stack_pointer != top.slot + return_address_size + instruction.extra_popped) {
    return false;
  }
  const std::uint64_t slot = top.slot;
  while (!frames().empty() && frames().back().slot == slot) { // tail calls share the slot
    close(State::complete, now);
  }
  if (first) {
    open(Kind::root, next, 0, 0, 0, now);
  }
  return true;
}

void CallTruth::unwind(std::uint64_t stack_pointer, Moment now) {
  while (!frames().empty()) {
    const Frame& top = frames().back();
    if (top.kind == Kind::root) {
      return;
    }
    if (top.kind == Kind::interruption ? stack_pointer >= top.lowest && stack_pointer < top.highest
                                       : stack_pointer <= top.slot) {
      return;
    }
    close(State::unwound, now);
  }
}

void CallTruth::enter_handler(std::uint64_t entry, std::uint64_t return_address,
                              std::uint64_t stack_pointer, std::uint64_t interrupted_stack_pointer,
                              Moment now) {
  Frame interruption;
  interruption.kind = Kind::interruption;
  const bool same_stack = interrupted_stack_pointer > stack_pointer &&
                          interrupted_stack_pointer - stack_pointer < largest_signal_frame;
  interruption.lowest = stack_pointer - std::min(stack_pointer, largest_signal_stack);
  interruption.highest =
      same_stack ? interrupted_stack_pointer : stack_pointer + largest_signal_frame;
  interruption.start = now;
  frames().push_back(std::move(interruption));
  open(Kind::handler, entry, stack_pointer, return_address, 0, now);
}

void CallTruth::leave_handler(Moment now) {
  const auto found =
      std::ranges::find(frames().rbegin(), frames().rend(), Kind::interruption, &Frame::kind);
  if (found == frames().rend()) {
    return;
  }
  const auto remaining = static_cast<std::size_t>(frames().rend() - found) - 1;
  while (frames().size() > remaining) {
    close(State::unwound, now);
  }
}

void CallTruth::finish(bool ended, Moment now) {
  for (current_ = 0; current_ < stacks_.size(); ++current_) {
    close_all(ended ? State::unwound : State::incomplete, now);
  }
  stacks_.assign(1, Stack());
  current_ = 0;
}

void CallTruth::close_all(State state, Moment now) {
  while (!frames().empty()) {
    close(state, now);
  }
}

void CallTruth::close(State state, Moment now) {
  const Frame frame = std::move(frames().back());
  frames().pop_back();
  // A stub that was jumped to and returns itself is no call either.
  const bool returned_by_stub = frame.kind == Kind::tail_call && frame.in_stub;
  if (frame.kind == Kind::interruption || frame.kind == Kind::local_call || returned_by_stub) {
    return;
  }
  const char* word = "complete";
  if (frame.kind == Kind::root || state == State::incomplete) {
    word = "incomplete";
  } else if (state == State::unwound) {
    word = "unwound";
  }
  const Json line{{"tid", tid_},
                  {"call", frame.number},
                  {"parent", frame.parent ? Json(*frame.parent) : Json(nullptr)},
                  {"function", hex(frame.place.entry)},
                  {"binary", frame.place.binary},
                  {"address", hex(frame.place.elf_address)},
                  {"symbol", frame.place.symbol},
                  {"start", frame.start.ns},
                  {"end", now.ns},
                  {"depth", frame.depth},
                  {"caller", hex(frame.caller)},
                  {"state", word},
                  {"tail_call", frame.kind == Kind::tail_call},
                  {"signal_handler", frame.kind == Kind::handler},
                  {"off_cpu", now.off_cpu_ns - frame.start.off_cpu_ns}};
  write_line(*out_, line);
  const std::vector<AddressRange>* ranges = process_->filtered();
  if (filtered_ != nullptr && ranges != nullptr &&
      std::ranges::any_of(
          *ranges, [&](const AddressRange& range) { return range.contains(frame.place.entry); })) {
    write_line(*filtered_, line);
  }
  ++calls_;
}

} // namespace ptlens::ptsim
