// Frames by return address and stack pointer.
#include "call_truth.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

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

CallTruth::CallTruth(std::ostream& out, Places& places, pid_t tid, std::uint64_t tsc_hz)
    : out_(&out), places_(&places), tid_(tid) {
  write_line(out, {{"format", "ptsim-truth"}, {"version", 1}, {"tsc_hz", tsc_hz}});
}

void CallTruth::begin(std::uint64_t ip, std::uint64_t stack_pointer, std::uint64_t stack_top,
                      Moment now) {
  const bool at_entry = places_->at(ip).at_entry;
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
  frame.depth = static_cast<std::size_t>(std::ranges::count_if(
      frames_, [](const Frame& other) { return other.kind != Kind::interruption; }));
  frame.number = begun_++;
  if (!frames_.empty() && frames_.back().kind != Kind::interruption) {
    frame.parent = frames_.back().number;
  }
  frames_.push_back(std::move(frame));
}

void CallTruth::retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next,
                       std::uint64_t stack_pointer, Moment now) {
  switch (instruction.flow) {
  case FlowKind::call:
  case FlowKind::indirect_call:
    if (next != ip + instruction.length) {
      open(Kind::call, next, stack_pointer, ip + instruction.length, ip, now);
    }
    return;
  case FlowKind::conditional:
  case FlowKind::jump:
  case FlowKind::indirect_jump:
    if (!finish_returned(instruction, next, stack_pointer, now)) {
      jump(ip, next, stack_pointer, now);
    }
    return;
  case FlowKind::ret:
    if (!finish_returned(instruction, next, stack_pointer, now)) {
      unwind(stack_pointer, now);
      if (frames_.size() == 1 && frames_.back().kind == Kind::root) {
        close(State::incomplete, now);
      }
    }
    if (frames_.empty()) { // back in a caller whose call was not seen
      open(Kind::root, next, 0, 0, 0, now);
    }
    return;
  default:
    unwind(stack_pointer, now);
    return;
  }
}

void CallTruth::jump(std::uint64_t ip, std::uint64_t next, std::uint64_t stack_pointer,
                     Moment now) {
  unwind(stack_pointer, now);
  if (frames_.empty()) {
    return;
  }
  Frame& top = frames_.back();
  const Place& target = places_->at(next);
  if (top.in_stub) {
    top.place = target;
    top.in_stub = target.stub;
    return;
  }
  const Place& source = places_->at(ip);
  if (stack_pointer == top.slot && (target.at_entry || target.stub) &&
      source.entry != target.entry && !same_source_function(source.symbol, target.symbol)) {
    open(Kind::tail_call, next, top.slot, top.return_address, ip, now);
  }
}

bool CallTruth::finish_returned(const Instruction& instruction, std::uint64_t next,
                                std::uint64_t stack_pointer, Moment now) {
  if (frames_.empty()) {
    return false;
  }
  const Frame& top = frames_.back();
  if (top.slot == 0 || top.return_address == 0 || next != top.return_address ||
      stack_pointer != top.slot + return_address_size + instruction.extra_popped) {
    return false;
  }
  const std::uint64_t slot = top.slot;
  bool more = true;
  while (more) { // the frames that tail calls put on one return address
    more = frames_.back().kind == Kind::tail_call;
    close(State::complete, now);
    more = more && !frames_.empty() && frames_.back().slot == slot;
  }
  return true;
}

void CallTruth::unwind(std::uint64_t stack_pointer, Moment now) {
  while (!frames_.empty()) {
    const Frame& top = frames_.back();
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
  frames_.push_back(std::move(interruption));
  open(Kind::handler, entry, stack_pointer, return_address, 0, now);
}

void CallTruth::leave_handler(Moment now) {
  const auto found =
      std::ranges::find(frames_.rbegin(), frames_.rend(), Kind::interruption, &Frame::kind);
  if (found == frames_.rend()) {
    return;
  }
  const auto remaining = static_cast<std::size_t>(frames_.rend() - found) - 1;
  while (frames_.size() > remaining) {
    close(State::unwound, now);
  }
}

void CallTruth::finish(bool ended, Moment now) {
  while (!frames_.empty()) {
    close(ended ? State::unwound : State::incomplete, now);
  }
}

void CallTruth::close(State state, Moment now) {
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.kind == Kind::interruption) {
    return;
  }
  const char* word = "complete";
  if (frame.kind == Kind::root || state == State::incomplete) {
    word = "incomplete";
  } else if (state == State::unwound) {
    word = "unwound";
  }
  write_line(*out_, {{"tid", tid_},
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
                     {"off_cpu", now.off_cpu_ns - frame.start.off_cpu_ns}});
  ++calls_;
}

} // namespace ptlens::ptsim
