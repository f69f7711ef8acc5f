// A window contains the code that can have run at the times that were not assigned yet.
#include "line_time/possible_times.hpp"

#include <algorithm>

namespace ptlens::line_time {

void PossibleTimes::reach(std::uint64_t low, std::uint64_t high, std::uint32_t set) {
  low = std::max(low, low_); // timestamps are in order, so that each bounds the next one
  high = std::max(high, low);
  if (!started_) {
    started_ = true;
    assigned_ = low;
  } else if (set == LineSets::only_elsewhere && spans_.size() == 1 && spans_.front().set == set) {
    spans_.front().to = high;
    assigned_ = low;
  } else {
    if (high < high_) { // and the previous one
      for (Span& span : spans_) {
        span.to = std::min(span.to, high);
      }
    }
    add({.from = low_, .to = high, .set = set});
    assign(low);
  }
  low_ = low;
  high_ = high;
}

void PossibleTimes::add(const Span& span) {
  if (!spans_.empty()) {
    Span& last = spans_.back();
    if (last.set == span.set) {
      last.to = span.to;
      return;
    }
    if (last.from == span.from && last.to == span.to) {
      last.set = sets_->unite(last.set, span.set);
      return;
    }
  }
  spans_.push_back(span);
  if (spans_.size() > most_spans) {
    Span& second = spans_[1];
    second.from = spans_.front().from;
    second.set = sets_->unite(spans_.front().set, second.set);
    spans_.pop_front();
  }
}

// Assigns the time before `until`. No later code can have run in it.
void PossibleTimes::assign(std::uint64_t until) {
  while (assigned_ < until) {
    while (!spans_.empty() && spans_.front().to <= assigned_) {
      spans_.pop_front();
    }
    if (spans_.empty()) {
      assigned_ = until;
      break;
    }
    std::uint64_t next = until;
    std::uint32_t set = LineSets::only_elsewhere;
    bool first = true;
    for (const Span& span : spans_) {
      if (span.from > assigned_) {
        next = std::min(next, span.from);
        break;
      }
      next = std::min(next, span.to);
      set = first ? span.set : sets_->unite(set, span.set);
      first = false;
    }
    add_time(set, assigned_, next);
    assigned_ = next;
  }
}

void PossibleTimes::add_time(std::uint32_t set, std::uint64_t begin, std::uint64_t end) {
  if (set == LineSets::only_elsewhere) {
    return;
  }
  if (set >= times_->size()) {
    times_->resize(sets_->size());
  }
  const std::uint64_t out = (off_cpu_.before(end) - off_cpu_.before(begin)).total_ns();
  (*times_)[set] += end - begin - std::min(out, end - begin);
}

void PossibleTimes::forget() {
  if (started_) {
    assign(high_);
  }
  spans_.clear();
  started_ = false;
}

} // namespace ptlens::line_time
