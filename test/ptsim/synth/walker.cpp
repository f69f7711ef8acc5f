// One step a block.
#include "synth/walker.hpp"

#include <algorithm>

namespace ptlens::ptsim::synth {
namespace {

constexpr std::uint32_t largest_bottom = 4000; // blocks of the function at the bottom
constexpr std::size_t most_tries = 2000;
constexpr std::size_t most_callers = 4; // between the bottom and where the trace begins
constexpr unsigned one_tail_jump_in = 8;

bool is_call(const Block& block) {
  return block.end == End::call || block.end == End::indirect_call;
}

} // namespace

Walker::Walker(const Process& process, const Behaviour& behaviour, const WalkerConfig& config,
               CallStack& stack, BranchLog* log, std::uint64_t seed)
    : process_(&process), graph_(&process.graph()), behaviour_(&behaviour), config_(config),
      stack_(&stack), log_(log), random_(seed) {}

// Returns the function that a stub jumps to.
FunctionId Walker::real(FunctionId id) const {
  const FunctionNode& function = graph_->function(id);
  return function.stub ? graph_->block(graph_->block(function.first).next).function : id;
}

void Walker::write_log(std::uint64_t from, std::uint64_t to, std::string_view kind) {
  if (stack_->in_loss()) {
    return;
  }
  if (!config_.filter || (config_.filter->holds(from) && config_.filter->holds(to))) {
    log_->line(from, to, kind);
  } else if (config_.filter->holds(from)) {
    log_->line(from, 0, "off");
  } else if (config_.filter->holds(to)) {
    log_->line(0, to, "on");
  }
}

// Backwards over the edges inside the function.
void Walker::find_reach(Anchor& anchor) const {
  const FunctionNode& function = graph_->function(graph_->block(anchor.call).function);
  const auto inside = [&function](BlockId id) {
    return id != no_block && id >= function.first && id - function.first < function.blocks;
  };
  anchor.reach.assign(function.blocks, false);
  anchor.reach[anchor.call - function.first] = true;
  const auto reaches = [&](BlockId id) {
    const Block& block = graph_->block(id);
    const auto leads = [&](BlockId to) { return inside(to) && anchor.reach[to - function.first]; };
    switch (block.end) {
    case End::conditional:
      return leads(block.next) || leads(block.taken);
    case End::indirect_jump:
      return std::ranges::any_of(graph_->islands(function), leads);
    case End::ret:
    case End::stub:
    case End::dead:
      return false;
    default:
      return leads(block.next);
    }
  };
  for (bool more = true; more;) {
    more = false;
    for (BlockId id = function.first + function.blocks; id-- > function.first;) {
      if (!anchor.reach[id - function.first] && graph_->can_be_walked(id) && reaches(id)) {
        anchor.reach[id - function.first] = true;
        more = true;
      }
    }
  }
}

// Rather a call through a register, as event loops have it: it calls everything there is.
bool Walker::find_anchor(Anchor& anchor) {
  return find_anchor(anchor, End::indirect_call) || find_anchor(anchor, End::call);
}

bool Walker::find_anchor(Anchor& anchor, End kind) {
  const auto usable = graph_->usable();
  for (std::size_t attempt = 0; attempt < most_tries; ++attempt) {
    const FunctionNode& function = graph_->function(usable[random_.below(usable.size())]);
    if (function.blocks > largest_bottom) {
      continue;
    }
    const auto call = any_call(function);
    if (!call || graph_->block(*call).end != kind) {
      continue;
    }
    anchor.call = *call;
    find_reach(anchor);
    const BlockId next = graph_->block(*call).next;
    if (anchor.reach[next - function.first]) {
      return true;
    }
  }
  return false;
}

std::optional<BlockId> Walker::any_call(const FunctionNode& function) {
  const std::uint64_t first = random_.below(function.blocks);
  for (std::uint32_t step = 0; step < function.blocks; ++step) {
    const BlockId id = function.first + static_cast<BlockId>((first + step) % function.blocks);
    if (is_call(graph_->block(id)) && graph_->can_be_walked(id)) {
      return id;
    }
  }
  return std::nullopt;
}

bool Walker::begin(std::uint64_t now) {
  if (!find_anchor(bottom_)) {
    return false;
  }
  Frame frame;
  frame.kind = Frame::Kind::root;
  frame.function = graph_->block(bottom_.call).function;
  frame.observed = false;
  frame.seen = false;
  stack_->open(frame, now);
  at_ = bottom_.call;
  for (std::uint64_t callers = random_.below(most_callers + 1); callers > 0; --callers) {
    const Block& call = graph_->block(at_);
    frame.function = call.end == End::call ? real(graph_->block(call.taken).function)
                                           : behaviour_->target(at_, random_);
    frame.caller = process_->last(call);
    frame.return_address = process_->behind(call);
    frame.after = call.next;
    frame.budget = behaviour_->whole_budget(random_);
    const FunctionNode& function = graph_->function(frame.function);
    stack_->open(frame, now);
    const auto inner = any_call(function);
    at_ = inner.value_or(function.first);
    if (!inner) {
      break;
    }
  }
  return true;
}

std::uint64_t Walker::ip() const {
  if (in_signal_return_) {
    return process_->signal_return().value_or(0);
  }
  return resume_ip_ != 0 ? resume_ip_ : process_->begin(graph_->block(at_));
}

bool Walker::in_stub() const {
  return at_ != no_block && graph_->function(graph_->block(at_).function).stub;
}

bool Walker::decides_next() const {
  constexpr int farthest = 16; // blocks
  BlockId id = at_;
  for (int step = 0; step < farthest && id != no_block; ++step) {
    const Block& block = graph_->block(id);
    if (block.end != End::fall && block.end != End::jump) {
      return block.end == End::conditional || block.end == End::ret ||
             block.end == End::indirect_jump || block.end == End::indirect_call;
    }
    if (block.call_of_next || graph_->block(block.next).function != block.function) {
      return false;
    }
    id = block.next;
  }
  return false;
}

void Walker::enter_user() {
  seat_.unit->enter_user(ip());
  const bool traced = !config_.filter || config_.filter->holds(ip());
  if (stack_->in_loss() || !traced) {
    return;
  }
  if (log_ != nullptr) {
    log_->line(0, ip(), "on");
  }
  Frame& top = stack_->top();
  const bool began_before = top.kind == Frame::Kind::root && !top.observed;
  if (began_before && config_.filter && ip() == process_->entry(top.function)) {
    // A filtered trace contains no other sign of a call from outside the filter.
    top.kind = Frame::Kind::call;
    top.start = now();
    top.seen = true;
  }
  top.observed = true;
}

void Walker::choose_interrupted() {
  if (resume_ip_ == 0 && !in_signal_return_ && !in_stub() && random_.chance(0.5)) {
    const std::vector<std::uint32_t> places = graph_->instructions(graph_->block(at_));
    const std::uint32_t place = places[random_.below(places.size())];
    resume_ip_ = process_->begin(graph_->block(at_)) + (place - graph_->block(at_).begin);
  }
}

void Walker::interrupt_through_kernel() {
  choose_interrupted();
  config_.kernel->interrupt({&seat_, stack_, log_, &random_}, ip());
}

void Walker::interrupt() {
  choose_interrupted();
  seat_.unit->interrupt(ip());
  if (log_ != nullptr && !stack_->in_loss() && (!config_.filter || config_.filter->holds(ip()))) {
    log_->line(ip(), 0, "interrupt");
  }
}

bool Walker::deliver_signal(FunctionId handler) {
  const auto signal_return = process_->signal_return();
  if (!signal_return || in_signal_return_ || in_stub() || stack_->top().function == handler ||
      stack_->top().kind == Frame::Kind::handler) {
    return false;
  }
  Frame interruption;
  interruption.kind = Frame::Kind::interruption;
  interruption.function = stack_->top().function;
  interruption.return_address = ip();
  interruption.after = at_;
  stack_->open(interruption, now());
  Frame frame;
  frame.kind = Frame::Kind::handler;
  frame.function = handler;
  frame.return_address = *signal_return;
  frame.budget = behaviour_->whole_budget(random_) / 4;
  stack_->open(frame, now());
  at_ = graph_->function(handler).first;
  resume_ip_ = 0;
  return true;
}

// The code that returns from a signal: a system call, behind which the interrupted code goes on.
void Walker::end_signal() {
  in_signal_return_ = false;
  const std::uint64_t call = process_->signal_return().value_or(0) + Process::signal_return_size;
  seat_.unit->run(2);
  seat_.unit->leave_by_far_transfer();
  log(call, 0, "syscall");
  const Frame interruption = stack_->end_interruption();
  at_ = interruption.after;
  resume_ip_ = interruption.return_address;
}

void Walker::begin_loss(std::string_view reason) {
  if (log_ != nullptr) {
    log_->line(0, 0, "gap");
  }
  stack_->begin_loss(now(), reason);
}

void Walker::end_loss() {
  stack_->end_loss(now());
}

bool Walker::stays(BlockId to) const {
  const FunctionNode& function = graph_->function(graph_->block(bottom_.call).function);
  return to != no_block && to >= function.first && to - function.first < function.blocks &&
         bottom_.reach[to - function.first];
}

// Whether a conditional branch is taken.
bool Walker::decide(const Block& block) {
  Frame& top = stack_->top();
  if (stack_->size() == 1) {
    return stays(block.taken) && (!stays(block.next) || random_.chance(0.5));
  }
  if (top.budget == 0) {
    const auto cost = [this](BlockId id) {
      return id == no_block ? no_exit : graph_->block(id).cost;
    };
    return cost(block.taken) < cost(block.next);
  }
  --top.budget;
  return behaviour_->takes(at_, random_);
}

std::uint32_t Walker::take_budget() {
  return stack_->size() == 1
             ? behaviour_->whole_budget(random_)
             : behaviour_->take_budget(stack_->top().budget, stack_->size(), random_);
}

// To a block of the same function, or to the entry of another: a tail call.
void Walker::go_to(const Block& from, BlockId to, std::uint64_t from_ip) {
  const Block& target = graph_->block(to);
  if (target.function != from.function) {
    const Frame& top = stack_->top();
    Frame frame;
    frame.kind = Frame::Kind::tail_call;
    frame.function = target.function;
    frame.caller = from_ip;
    frame.return_address = top.return_address;
    frame.after = top.after;
    frame.budget = take_budget();
    frame.seen = in_trace(from_ip, process_->begin(target));
    stack_->open(frame, now());
  }
  at_ = to;
}

void Walker::open_call(const Block& block, BlockId callee, std::uint64_t behind,
                       std::uint64_t entry) {
  Frame frame;
  frame.function = graph_->block(callee).function;
  frame.caller = process_->last(block);
  frame.return_address = behind;
  frame.after = block.next;
  frame.budget = take_budget();
  frame.seen = in_trace(frame.caller, entry);
  stack_->open(frame, now());
  at_ = callee;
}

BlockId Walker::choose_indirect(const Block& block) {
  const FunctionNode& function = graph_->function(block.function);
  const auto islands = graph_->islands(function);
  Frame& top = stack_->top();
  if (stack_->size() == 1) {
    std::vector<BlockId> staying;
    std::ranges::copy_if(islands, std::back_inserter(staying),
                         [this](BlockId id) { return stays(id); });
    return staying[random_.below(staying.size())];
  }
  if (top.budget != 0) {
    --top.budget;
    if (!islands.empty() && random_.below(one_tail_jump_in) != 0) {
      return islands[random_.below(islands.size())];
    }
    const FunctionId target = behaviour_->target(at_, random_);
    if (target != block.function) {
      return graph_->function(target).first;
    }
  }
  FunctionId target = behaviour_->cheap_target(random_);
  while (target == block.function) {
    target = behaviour_->cheap_target(random_);
  }
  return graph_->function(target).first;
}

FunctionId Walker::choose_callee() {
  if (stack_->size() == 1) {
    return graph_->usable()[random_.below(graph_->usable().size())];
  }
  return stack_->top().budget == 0 ? behaviour_->cheap_target(random_)
                                   : behaviour_->target(at_, random_);
}

void Walker::follow_indirect_jump(const Block& block) {
  if (unwind(block, false)) {
    return;
  }
  const BlockId to = choose_indirect(block);
  const std::uint64_t ip = process_->begin(graph_->block(to));
  const std::uint64_t from = process_->last(block);
  seat_.unit->indirect_jump(ip);
  log(from, ip, "indirect");
  go_to(block, to, from);
}

void Walker::follow_return(const Block& block) {
  if (unwind(block, true)) {
    return;
  }
  const Frame& top = stack_->top();
  const std::uint64_t to = top.return_address;
  const std::uint64_t from = process_->last(block);
  in_signal_return_ = false;
  std::size_t base = stack_->size() - 1;
  while (stack_->frames()[base].kind == Frame::Kind::tail_call) {
    --base;
  }
  in_signal_return_ = stack_->frames()[base].kind == Frame::Kind::handler;
  at_ = top.after;
  seat_.unit->ret(to);
  log(from, to, "return");
  stack_->returned(now(), in_trace(from, to));
}

// Throws an exception: control continues in a frame below, not at a return address. Only frames
// that the trace identifies are chosen: the nearest open call of the frame's function.
bool Walker::unwind(const Block& block, bool by_return) {
  if (config_.unwind == 0 || !random_.chance(config_.unwind) || stack_->in_loss()) {
    return false;
  }
  const std::vector<Frame>& frames = stack_->frames();
  const auto plain = [this](const Frame& frame) {
    return frame.seen && frame.losses == stack_->losses() &&
           (frame.kind == Frame::Kind::call || frame.kind == Frame::Kind::tail_call);
  };
  std::size_t lowest = frames.size();
  while (lowest > 0 && plain(frames[lowest - 1])) {
    --lowest;
  }
  std::vector<std::pair<std::size_t, BlockId>> choices;
  for (std::size_t index = lowest; index + 1 < frames.size(); ++index) {
    const bool alive = frames[index + 1].kind != Frame::Kind::tail_call;
    const bool nearest =
        std::none_of(frames.begin() + static_cast<std::ptrdiff_t>(index) + 1, frames.end(),
                     [&](const Frame& above) { return above.function == frames[index].function; });
    const auto islands = graph_->islands(graph_->function(frames[index].function));
    if (alive && nearest && !islands.empty()) {
      choices.emplace_back(index, islands[random_.below(islands.size())]);
    }
  }
  if (choices.empty()) {
    return false;
  }
  const auto [index, landing] = choices[random_.below(choices.size())];
  const std::uint64_t ip = process_->begin(graph_->block(landing));
  if (std::ranges::any_of(frames,
                          [ip](const Frame& frame) { return frame.return_address == ip; })) {
    return false;
  }
  const std::uint64_t from = process_->last(block);
  if (by_return) {
    seat_.unit->ret(ip);
    log(from, ip, "return");
  } else {
    seat_.unit->indirect_jump(ip);
    log(from, ip, "indirect");
  }
  stack_->unwind_to(index + 1, now());
  at_ = landing;
  return true;
}

Walker::Stop Walker::run(std::uint64_t until, std::uint64_t bytes) {
  TraceUnit& unit = *seat_.unit;
  if (in_signal_return_) {
    end_signal();
    return Stop::system_call;
  }
  while (now() < until) {
    const Block& block = graph_->block(at_);
    unit.run(block.cycles);
    resume_ip_ = 0;
    switch (block.end) {
    case End::fall:
      at_ = block.next;
      continue;
    case End::jump: {
      const std::uint64_t from = process_->last(block);
      const std::uint64_t to = process_->begin(graph_->block(block.next));
      unit.jump(to);
      log(from, to, block.call_of_next ? "call" : "jump");
      go_to(block, block.next, from);
      continue;
    }
    case End::conditional: {
      const bool taken = decide(block);
      const BlockId to = taken ? block.taken : block.next;
      const std::uint64_t ip = process_->begin(graph_->block(to));
      unit.conditional(taken, ip);
      if (taken) {
        const std::uint64_t from = process_->last(block);
        log(from, ip, "cond");
        go_to(block, to, from);
      } else {
        at_ = to;
      }
      break;
    }
    case End::indirect_jump:
      follow_indirect_jump(block);
      break;
    case End::call: {
      const std::uint64_t behind = process_->behind(block);
      const std::uint64_t entry = process_->begin(graph_->block(block.taken));
      unit.call(behind, entry);
      log(process_->last(block), entry, "call");
      open_call(block, block.taken, behind, entry);
      continue;
    }
    case End::indirect_call: {
      const FunctionId target = choose_callee();
      const BlockId callee = graph_->function(target).first;
      const std::uint64_t behind = process_->behind(block);
      const std::uint64_t entry = process_->entry(target);
      unit.indirect_call(behind, entry);
      log(process_->last(block), entry, "call");
      open_call(block, callee, behind, entry);
      break;
    }
    case End::ret:
      follow_return(block);
      break;
    case End::stub: {
      const std::uint64_t to = process_->begin(graph_->block(block.next));
      unit.indirect_jump(to);
      log(process_->last(block), to, "indirect");
      stack_->top().function = graph_->block(block.next).function;
      stack_->top().entered = now();
      at_ = block.next;
      break;
    }
    case End::system_call:
      if (config_.kernel != nullptr) {
        config_.kernel->system_call({&seat_, stack_, log_, &random_}, process_->last(block),
                                    process_->behind(block));
        at_ = block.next;
        break;
      }
      unit.leave_by_far_transfer();
      log(process_->last(block), 0, "syscall");
      at_ = block.next;
      return Stop::system_call;
    case End::dead:
      return Stop::time;
    }
    if (seat_.packets->total() >= bytes) {
      return Stop::bytes;
    }
    if (in_signal_return_) {
      end_signal();
      return Stop::system_call;
    }
  }
  return Stop::time;
}

} // namespace ptlens::ptsim::synth
