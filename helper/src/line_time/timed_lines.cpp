// Finds timed code by address.
#include "line_time/timed_lines.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::line_time {

namespace {

constexpr std::size_t most_stretches = std::size_t{1} << 18U; // remembered at a time

} // namespace

TimedLines::TimedLines(std::vector<TimedCode> code) : code_(std::move(code)) {
  for (const TimedCode& each : code_) {
    for (const symbols::CodeLine& line : each.lines) {
      lines_.push_back(line.line);
    }
  }
  std::ranges::sort(lines_);
  const auto repeats = std::ranges::unique(lines_);
  lines_.erase(repeats.begin(), repeats.end());
  executions.resize(lines_.size());
}

TimedLines::View& TimedLines::in(const symbols::AddressSpaceVersion& space) {
  std::unique_ptr<View>& view = views_[space.serial];
  if (view != nullptr) {
    return *view;
  }
  view = std::make_unique<View>();
  view->sets_ = &sets_;
  view->space_ = &space;
  for (const symbols::MappedCode& mapped : space.code) {
    for (const TimedCode& each : code_) {
      if (each.binary != mapped.binary.get()) {
        continue;
      }
      for (const symbols::CodeLine& line : each.lines) {
        const std::uint64_t low = std::max(line.low + mapped.bias, mapped.start);
        const std::uint64_t high = std::min(line.high + mapped.bias, mapped.end);
        if (low < high) {
          const auto at = std::ranges::lower_bound(lines_, line.line);
          view->segments_.push_back(
              {.low = low, .high = high, .line = static_cast<std::uint32_t>(at - lines_.begin())});
        }
      }
      for (const std::uint64_t entry : each.entries) {
        view->entries_.push_back(entry + mapped.bias);
      }
    }
  }
  std::ranges::sort(view->segments_, {}, &View::Segment::low);
  std::ranges::sort(view->entries_);
  if (!view->segments_.empty()) {
    view->low_ = view->segments_.front().low;
    view->high_ = view->segments_.back().high;
  }
  return *view;
}

std::uint32_t TimedLines::View::line_at(std::uint64_t address) const {
  const auto at = std::ranges::upper_bound(segments_, address, {}, &Segment::high);
  return at != segments_.end() && at->low <= address ? at->line : no_line;
}

bool TimedLines::View::is_entry(std::uint64_t address) const {
  return std::ranges::binary_search(entries_, address);
}

std::uint32_t TimedLines::View::line_of_call_before(std::uint64_t address) {
  if (!may_hold(address - 1, address + 1)) {
    return no_line;
  }
  const auto [known, added] = calls_.try_emplace(address, no_line);
  if (added) {
    const symbols::MappedCode* mapped = space_->find(address);
    if (mapped != nullptr && mapped->binary != nullptr) {
      if (const auto call = mapped->binary->call_before(address - mapped->bias)) {
        known->second = line_at(*call + mapped->bias);
      }
    }
  }
  return known->second;
}

const Stretch* TimedLines::View::stretch(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end || !may_hold(begin, end)) {
    return nullptr;
  }
  const Ends ends{.begin = begin, .end = end};
  if (last_ == nullptr || last_ends_ != ends) {
    auto known = stretches_.find(ends);
    if (known == stretches_.end()) {
      if (stretches_.size() == most_stretches) {
        stretches_.clear();
      }
      known = stretches_.emplace(ends, made(begin, end)).first;
    }
    last_ends_ = ends;
    last_ = &known->second;
  }
  return last_->lines.empty() ? nullptr : last_;
}

Stretch TimedLines::View::made(std::uint64_t begin, std::uint64_t end) const {
  Stretch stretch;
  std::vector<std::uint32_t> members;
  std::uint64_t position = begin;
  for (auto at = std::ranges::upper_bound(segments_, begin, {}, &Segment::high);
       at != segments_.end() && at->low < end; ++at) {
    if (at->low > position) {
      members.push_back(LineSets::elsewhere);
    }
    position = at->high;
    members.push_back(at->line);
    if (std::ranges::find(stretch.lines, at->line) == stretch.lines.end()) {
      stretch.lines.push_back(at->line);
    }
  }
  if (position < end) {
    members.push_back(LineSets::elsewhere);
  }
  std::ranges::sort(members);
  const auto repeats = std::ranges::unique(members);
  members.erase(repeats.begin(), repeats.end());
  stretch.set = sets_->of(std::move(members));
  stretch.last = line_at(end - 1);
  return stretch;
}

} // namespace ptlens::line_time
