// Splits a thread's execution into stretches of straight code, by the branch that leads to each.
#include "line_time/line_walk.hpp"

#include <algorithm>

namespace ptlens::line_time {

namespace {

using flow::BranchKind;

constexpr std::uint64_t first_kernel_address = std::uint64_t{1} << 63U;

bool leaves_for_kernel(const flow::Branch& branch) {
  return branch.kind == BranchKind::syscall || branch.kind == BranchKind::interrupt ||
         (branch.kind == BranchKind::off && branch.leaving == BranchKind::off);
}

// Returns the address after the branch, where straight execution would continue.
std::uint64_t address_after(const flow::Branch& branch) {
  const bool left_by_branch = branch.kind == BranchKind::off && branch.leaving != BranchKind::off;
  return branch.from + std::max<std::uint64_t>(branch.from_size, left_by_branch ? 1 : 0);
}

} // namespace

void LineWalk::add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  if (first_ns_ == 0) {
    first_ns_ = branch.time_ns;
  }
  last_ns_ = std::max(last_ns_, branch.time_ns);
  if (space.serial != space_serial_) {
    space_serial_ = space.serial;
    view_ = &lines_->in(space);
  }
  const Stretch* stretch = nullptr;
  if (position_ != 0 && branch.kind == BranchKind::gap) {
    lines_->cut += view_->line_at(position_) != TimedLines::no_line ? 1 : 0;
  } else if (position_ != 0 && branch.kind != BranchKind::on) {
    stretch = view_->stretch(position_, address_after(branch));
  }
  if (stretch != nullptr) {
    count(*stretch);
  }
  if (branch.time_ns == 0) {
    times_.forget();
  } else {
    times_.reach(branch.time_ns - std::min<std::uint64_t>(branch.time_ns, branch.uncertainty_ns),
                 branch.time_ns + branch.uncertainty_ns,
                 stretch != nullptr ? stretch->set : LineSets::only_elsewhere);
  }
  if (leaves_for_kernel(branch)) {
    leave(branch, stretch);
  }
  const bool goes_on = branch.kind != BranchKind::gap && branch.kind != BranchKind::off;
  position_ = goes_on ? branch.to : 0;
  if (position_ != 0 && view_->may_hold(position_, position_ + 1)) {
    begun_ = arrive(branch, stretch);
  }
}

void LineWalk::count(const Stretch& stretch) {
  const bool skips_first =
      begun_.what == Begun::What::unseen ||
      (begun_.what == Begun::What::first_line && stretch.lines.front() == begun_.line);
  for (std::size_t at = 0; at < stretch.lines.size(); ++at) {
    const bool known = (at == 0 && skips_first) ||
                       (begun_.what == Begun::What::line && stretch.lines[at] == begun_.line);
    lines_->executions[stretch.lines[at]] += known ? 0 : 1;
  }
}

// Remembers where control leaves for the kernel, as it may return to the next instruction.
void LineWalk::leave(const flow::Branch& branch, const Stretch* stretch) {
  const std::uint64_t address = address_after(branch);
  Begun begun = begun_;
  if (stretch != nullptr) {
    begun = {.what = Begun::What::line, .line = stretch->last};
  } else if (position_ != address || !view_->may_hold(address, address + 1)) {
    return;
  }
  if (suspended_.size() == most_suspended) {
    suspended_.erase(suspended_.begin());
  }
  suspended_.push_back({.address = address, .begun = begun});
}

LineWalk::Begun LineWalk::arrive(const flow::Branch& branch, const Stretch* stretch) {
  const std::uint64_t next = branch.from + branch.from_size;
  const bool inside = stretch != nullptr && stretch->last != TimedLines::no_line;
  if (branch.kind == BranchKind::on ||
      (branch.from >= first_kernel_address && branch.to < first_kernel_address)) {
    return resume(branch.to);
  }
  switch (branch.kind) {
  case BranchKind::ret: {
    const std::uint32_t line = view_->line_of_call_before(branch.to);
    return {.what = line != TimedLines::no_line ? Begun::What::line : Begun::What::nothing,
            .line = line};
  }
  case BranchKind::call:
    if (inside && branch.to == next) { // a call that reads the instruction pointer
      return {.what = Begun::What::first_line, .line = stretch->last};
    }
    return {};
  case BranchKind::jump:
  case BranchKind::cond:
  case BranchKind::indirect:
    if (inside && branch.to >= next) {
      return {.what = Begun::What::first_line, .line = stretch->last};
    }
    return {};
  default:
    return {};
  }
}

// Returns what was executed before control came from the kernel or from untraced code.
LineWalk::Begun LineWalk::resume(std::uint64_t address) {
  const auto known =
      std::find_if(suspended_.rbegin(), suspended_.rend(),
                   [address](const Suspended& each) { return each.address == address; });
  if (known != suspended_.rend()) {
    const Begun begun = known->begun;
    suspended_.erase(std::prev(known.base()), suspended_.end());
    return begun;
  }
  if (view_->is_entry(address)) {
    return {};
  }
  const std::uint32_t line = view_->line_of_call_before(address);
  return line != TimedLines::no_line ? Begun{.what = Begun::What::line, .line = line}
                                     : Begun{.what = Begun::What::unseen};
}

void LineWalk::exec(std::uint64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  times_.forget();
  position_ = 0;
  suspended_.clear();
}

void LineWalk::finish(bool) {
  times_.finish();
}

} // namespace ptlens::line_time
