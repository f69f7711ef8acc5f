// Intervals of decisions to times of branches.
#include "flow/run_builder.hpp"

#include <algorithm>
#include <limits>

namespace ptlens::flow {
namespace {

constexpr std::size_t most_branches_a_run = 8192;
constexpr std::size_t most_widths = 1U << 20U;

} // namespace

void RunBuilder::place(Branch& branch, TimeInterval interval) {
  const std::uint64_t width = interval.latest - interval.earliest;
  branch.time_ns = interval.earliest + width / 2;
  branch.spread_ns = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((width + 1) / 2, std::numeric_limits<std::uint32_t>::max()));
  if (widths_.size() < most_widths && branch.kind != BranchKind::gap) {
    widths_.push_back(width);
  }
}

void RunBuilder::close_open(std::uint64_t latest) {
  for (; open_ < run_.branches.size(); ++open_) {
    place(run_.branches[open_], {last_.earliest, std::max(latest, last_.earliest)});
  }
}

void RunBuilder::decide(TimeInterval interval) {
  interval.latest = std::max(interval.latest, last_.latest);
  interval.earliest = std::max(interval.earliest, last_.earliest);
  close_open(interval.latest);
  last_ = interval;
}

void RunBuilder::add_decided(const Branch& branch) {
  close_open(last_.latest);
  run_.branches.push_back(branch);
  place(run_.branches.back(), last_);
  ++open_;
}

void RunBuilder::add_between(const Branch& branch) {
  run_.branches.push_back(branch);
}

bool RunBuilder::is_long() const {
  return run_.branches.size() >= most_branches_a_run && open_ == run_.branches.size();
}

void RunBuilder::break_run(Running owner) {
  close_open(last_.latest);
  if (!run_.branches.empty() || !run_.marks.empty() || run_.instructions != 0) {
    run_.pid = owner.pid;
    run_.tid = owner.tid;
    run_.cpu = cpu_;
    ready_.push_back(std::move(run_));
  }
  run_ = Run{};
  open_ = 0;
}

std::optional<Run> RunBuilder::take() {
  if (ready_next_ == ready_.size()) {
    ready_.clear();
    ready_next_ = 0;
    return std::nullopt;
  }
  return std::move(ready_[ready_next_++]);
}

} // namespace ptlens::flow
