// A window over the pieces of code that can have run at the times that are not settled yet.
#include "line_time/possible_times.hpp"

#include <algorithm>

namespace ptlens::stacks {

void PossibleTimes::reach(std::uint64_t low, std::uint64_t high, std::uint32_t set) {
  low = std::max(low, low_); // moments come in order: what came before bounds what comes after
  high = std::max(high, low);
  if (!started_) {
    started_ = true;
    settled_ = low;
  } else if (set == LineSets::only_elsewhere && pieces_.size() == 1 && pieces_.front().set == set) {
    pieces_.front().to = high;
    settled_ = low;
  } else {
    if (high < high_) { // and the other way round
      for (Piece& piece : pieces_) {
        piece.to = std::min(piece.to, high);
      }
    }
    add({.from = low_, .to = high, .set = set});
    settle(low);
  }
  low_ = low;
  high_ = high;
}

void PossibleTimes::add(const Piece& piece) {
  if (!pieces_.empty()) {
    Piece& last = pieces_.back();
    if (last.set == piece.set) {
      last.to = piece.to;
      return;
    }
    if (last.from == piece.from && last.to == piece.to) {
      last.set = sets_->unite(last.set, piece.set);
      return;
    }
  }
  pieces_.push_back(piece);
  if (pieces_.size() > most_pieces) {
    Piece& second = pieces_[1];
    second.from = pieces_.front().from;
    second.set = sets_->unite(pieces_.front().set, second.set);
    pieces_.pop_front();
  }
}

// Gives the time up to `until`, which no code that comes later can have run before.
void PossibleTimes::settle(std::uint64_t until) {
  while (settled_ < until) {
    while (!pieces_.empty() && pieces_.front().to <= settled_) {
      pieces_.pop_front();
    }
    if (pieces_.empty()) {
      settled_ = until;
      break;
    }
    std::uint64_t next = until;
    std::uint32_t set = LineSets::only_elsewhere;
    bool first = true;
    for (const Piece& piece : pieces_) {
      if (piece.from > settled_) {
        next = std::min(next, piece.from);
        break;
      }
      next = std::min(next, piece.to);
      set = first ? piece.set : sets_->unite(set, piece.set);
      first = false;
    }
    give(set, settled_, next);
    settled_ = next;
  }
}

void PossibleTimes::give(std::uint32_t set, std::uint64_t begin, std::uint64_t end) {
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
    settle(high_);
  }
  pieces_.clear();
  started_ = false;
}

} // namespace ptlens::stacks
