// Follows one instruction at a time, where the packets require it.
#include "flow/walk/packet_walker.hpp"

namespace ptlens::flow {
namespace {

// The limit of instructions without a decision from the trace: a loop of direct jumps would never
// end.
constexpr std::uint64_t most_undecided = 1U << 20U;

} // namespace

std::uint64_t PacketWalker::take_instructions() {
  const std::uint64_t instructions = instructions_;
  instructions_ = 0;
  return instructions;
}

// Reads an asynchronous event: a FUP has its address, and the next packet its result.
void PacketWalker::read_event(std::uint64_t at) {
  next_.kind = Flow::event;
  next_.at = at;
  while (const Packet* const packet = packets_->peek()) {
    next_.packet = *packet;
    packets_->pop();
    switch (next_.packet.kind) {
    case PacketKind::tip:
    case PacketKind::pgd:
      next_.event_disables = next_.packet.kind == PacketKind::pgd;
      next_.has_ip = next_.packet.has_ip;
      next_.ip = next_.packet.value;
      return;
    case PacketKind::overflow:
      next_.kind = Flow::overflow;
      return;
    case PacketKind::psbend:
    case PacketKind::binding:
      continue;
    default:
      next_.kind = Flow::unexpected;
      return;
    }
  }
  next_.kind = Flow::end;
}

void PacketWalker::read_psb(std::uint64_t offset) {
  next_.kind = Flow::psb;
  next_.psb_offset = offset;
  while (const Packet* const packet = packets_->peek()) {
    const PacketKind kind = packet->kind;
    if (kind == PacketKind::fup && packet->has_ip) {
      next_.has_ip = true;
      next_.at = packet->value;
    }
    packets_->pop();
    if (kind == PacketKind::psbend) {
      return;
    }
    if (kind == PacketKind::overflow) {
      next_.kind = Flow::overflow;
      return;
    }
  }
  next_.kind = Flow::end;
}

void PacketWalker::fetch() {
  next_ = Next{};
  bool bound = false; // the next FUP belongs to another packet than a branch
  while (const Packet* const peeked = packets_->peek()) {
    const Packet packet = *peeked;
    if (packet.kind == PacketKind::pge) {
      next_.kind = Flow::unexpected; // decoding can begin again with it
      return;
    }
    packets_->pop();
    next_.has_ip = packet.has_ip;
    next_.ip = packet.value;
    switch (packet.kind) {
    case PacketKind::tnt:
      next_.kind = Flow::bits;
      next_.bits = packet.value;
      next_.bit_count = packet.bit_count;
      break;
    case PacketKind::tip:
      next_.kind = Flow::tip;
      break;
    case PacketKind::pgd:
      next_.kind = Flow::disabled;
      break;
    case PacketKind::pge:
      return;
    case PacketKind::fup:
      if (bound) {
        bound = false;
        continue;
      }
      read_event(packet.value);
      return;
    case PacketKind::psb:
      next_.has_ip = false;
      read_psb(packet.offset);
      break;
    case PacketKind::overflow:
      next_.kind = Flow::overflow;
      break;
    case PacketKind::binding:
      bound = true;
      continue;
    case PacketKind::psbend:
      continue;
    }
    next_.packet = packet;
    return;
  }
  next_.kind = Flow::end;
}

void PacketWalker::use_next() {
  decided_ = true;
  run_->decide(next_.packet.sent());
  next_ = Next{};
}

std::optional<bool> PacketWalker::bit() {
  if (bit_count_ == 0) {
    if (next_.kind == Flow::none) {
      fetch();
    }
    if (next_.kind != Flow::bits || next_.bit_count == 0) {
      return std::nullopt;
    }
    bits_ = next_.bits;
    bit_count_ = next_.bit_count;
    bits_packet_ = next_.packet;
    next_ = Next{};
  }
  --bit_count_;
  decided_ = true;
  run_->decide(bits_packet_.when(bits_packet_.bit_count - bit_count_));
  return ((bits_ >> bit_count_) & 1U) != 0;
}

std::optional<std::uint64_t> PacketWalker::target() {
  if (next_.kind == Flow::none) {
    fetch();
  }
  if (next_.kind != Flow::tip || !next_.has_ip) {
    return std::nullopt;
  }
  const std::uint64_t ip = next_.ip;
  use_next();
  return ip;
}

// Looks ahead once all bits are used: an event or a PSB+ may take effect before the next branch.
bool PacketWalker::stops_here() {
  if (bit_count_ != 0) {
    return false;
  }
  if (next_.kind == Flow::none) {
    const Packet* const packet = packets_->peek();
    if (packet != nullptr && (packet->kind == PacketKind::tnt || packet->kind == PacketKind::tip)) {
      return false;
    }
    fetch();
  }
  switch (next_.kind) {
  case Flow::event:
    return next_.at == address_;
  case Flow::psb:
    return !next_.has_ip || next_.at == address_;
  case Flow::overflow:
  case Flow::end:
  case Flow::unexpected:
    return true;
  default:
    return false;
  }
}

PacketWalker::Stop PacketWalker::at_stop() {
  switch (next_.kind) {
  case Flow::overflow:
    return Stop::overflow;
  case Flow::end:
    return Stop::end;
  case Flow::psb:
    return next_.has_ip ? Stop::synchronised : Stop::bad_trace;
  case Flow::event: {
    hidden_ = false;
    branch_ = Branch{};
    branch_.from = address_;
    if (next_.event_disables || !next_.has_ip) {
      branch_.kind = BranchKind::off;
      use_next();
      return Stop::off;
    }
    branch_.kind = BranchKind::interrupt;
    branch_.to = next_.ip;
    address_ = next_.ip;
    use_next();
    return Stop::branch;
  }
  default:
    return Stop::bad_trace;
  }
}

void PacketWalker::pass_psb() {
  returns_->clear();
  next_ = Next{};
}

PacketWalker::Stop PacketWalker::next() {
  if (const auto stop = follow_graph()) {
    return *stop;
  }
  decided_ = false;
  for (std::uint64_t undecided = 0; undecided < most_undecided; ++undecided) {
    if (stops_here()) {
      return at_stop();
    }
    const auto instruction = graph_->image().known_instruction(address_);
    if (!instruction) {
      return graph_->image().holds(address_) ? Stop::bad_instruction : Stop::missing_code;
    }
    ++instructions_;
    if (leaves_here(*instruction)) {
      return leave(*instruction);
    }
    if (instruction->kind == InstructionClass::other) {
      address_ += instruction->size;
      continue;
    }
    if (instruction->kind == InstructionClass::conditional) {
      const auto taken = bit();
      if (!taken) {
        return Stop::bad_trace;
      }
      if (!*taken || instruction->target == address_ + instruction->size) {
        address_ += instruction->size;
        if (const auto stop = follow_graph()) {
          return *stop;
        }
        decided_ = false;
        undecided = 0;
        continue;
      }
      return take(BranchKind::cond, *instruction, instruction->target);
    }
    return follow(*instruction);
  }
  return Stop::bad_trace;
}

// Returns true where tracing ends with the instruction: at the next indirect or far transfer, or
// where code continues outside the filtered range, at an address that the packet names.
bool PacketWalker::leaves_here(const Instruction& instruction) const {
  if (bit_count_ != 0 || next_.kind != Flow::disabled) {
    return false;
  }
  const bool falls_through = next_.has_ip && next_.ip == address_ + instruction.size;
  const bool goes_there = next_.has_ip && next_.ip == instruction.target;
  switch (instruction.kind) {
  case InstructionClass::other:
    return falls_through;
  case InstructionClass::conditional:
    return falls_through || goes_there;
  case InstructionClass::call_direct:
  case InstructionClass::jump_direct:
    return goes_there;
  default:
    return true;
  }
}

PacketWalker::Stop PacketWalker::take(BranchKind kind, const Instruction& instruction,
                                      std::uint64_t to) {
  branch_ = Branch{};
  branch_.kind = kind;
  branch_.from = address_;
  branch_.from_size = instruction.size;
  branch_.to = to;
  hidden_ = instruction.inside && graph_->hides_local_jumps();
  address_ = to;
  return Stop::branch;
}

PacketWalker::Stop PacketWalker::leave(const Instruction& instruction) {
  const BranchKind by = branch_kind(instruction.kind).value_or(BranchKind::off);
  const bool system_call = by == BranchKind::syscall;
  take(system_call ? BranchKind::syscall : BranchKind::off, instruction,
       !system_call && next_.has_ip ? next_.ip : 0);
  branch_.leaving = by;
  use_next();
  return Stop::off;
}

PacketWalker::Stop PacketWalker::follow_return(const Instruction& instruction) {
  if (bit_count_ != 0 || next_.kind == Flow::bits) {
    const auto taken = bit();
    const auto to = returns_->pop();
    if (!taken || !*taken) {
      return Stop::bad_trace;
    }
    if (!to) {
      return Stop::unknown_return;
    }
    return take(BranchKind::ret, instruction, to->address);
  }
  const auto to = target();
  if (!to) {
    return Stop::bad_trace;
  }
  returns_->pop();
  return take(BranchKind::ret, instruction, *to);
}

PacketWalker::Stop PacketWalker::follow(const Instruction& instruction) {
  const std::uint64_t behind = address_ + instruction.size;
  switch (instruction.kind) {
  case InstructionClass::call_direct:
    if (instruction.target != behind) {
      returns_->push({behind, graph_->at(behind)});
    }
    return take(BranchKind::call, instruction, instruction.target);
  case InstructionClass::jump_direct:
    return take(BranchKind::jump, instruction, instruction.target);
  case InstructionClass::ret:
    return follow_return(instruction);
  default:
    break;
  }
  const auto to = target();
  if (!to) {
    return Stop::bad_trace;
  }
  switch (instruction.kind) {
  case InstructionClass::call_indirect:
    returns_->push({behind, graph_->at(behind)});
    return take(BranchKind::call, instruction, *to);
  case InstructionClass::jump_indirect:
    return take(BranchKind::indirect, instruction, *to);
  default:
    return take(BranchKind::syscall, instruction, *to);
  }
}

} // namespace ptlens::flow
