// Branches are matched one by one between the PSBs at which both decoders started.
#include "engine/trace/branch_comparison.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptlens::engine {
namespace {

using flow::BranchKind;
using Event = flow::ReferenceDecoder::Event;

constexpr std::size_t context_branches = 6;

// The reference does not distinguish direct and indirect jumps.
BranchKind common(BranchKind kind) {
  return kind == BranchKind::indirect ? BranchKind::jump : kind;
}

bool has_target(BranchKind kind) {
  return kind != BranchKind::off && kind != BranchKind::syscall && kind != BranchKind::gap &&
         kind != BranchKind::interrupt;
}

bool has_source(BranchKind kind) {
  return kind != BranchKind::gap && kind != BranchKind::on;
}

bool same(const flow::Branch& one, const flow::Branch& other) {
  const BranchKind kind = common(one.kind);
  return kind == common(other.kind) && (!has_source(kind) || one.from == other.from) &&
         (!has_target(kind) || one.to == other.to);
}

std::string text(const flow::Branch& branch) {
  if (branch.kind == BranchKind::gap) {
    return fmt::format("gap at {:#x}: {}", branch.from, flow::name(branch.gap));
  }
  return fmt::format("{} {:#x} -> {:#x}", flow::name(common(branch.kind)), branch.from, branch.to);
}

// Our branches of one trace fragment, one at a time, and the PSBs between them.
class Ours {
public:
  explicit Ours(const Streams& streams) : streams_(&streams) {}

  // Returns the next branch; null at the end.
  const flow::Branch* peek() {
    fill();
    return run_ && branch_ < run_->branches.size() ? &run_->branches[branch_] : nullptr;
  }
  void pop() { ++branch_; }
  // Returns whether the branch of peek() is a gap where code is really missing.
  [[nodiscard]] bool lacks_code() const {
    if (!run_) {
      return false;
    }
    const flow::Branch& branch = run_->branches[branch_];
    return branch.gap == flow::GapReason::missing_code && streams_->code_is_missing(*run_, branch);
  }
  [[nodiscard]] std::int32_t tid() const { return run_ ? run_->tid : -1; }

  // Moves to the first PSB at or after `offset` and returns its offset; nothing where none follows.
  // Adds the number of passed branches to `skipped`.
  std::optional<std::uint64_t> seek(std::uint64_t offset, std::uint64_t& skipped) {
    started_ = true;
    for (;;) {
      while (run_ && mark_ < run_->marks.size()) {
        const flow::SyncMark& mark = run_->marks[mark_];
        if (mark.psb_offset >= offset && mark.branches >= branch_) {
          skipped += mark.branches - branch_;
          branch_ = mark.branches;
          return mark.psb_offset;
        }
        ++mark_;
      }
      if (run_) {
        skipped += run_->branches.size() - branch_;
      }
      if (!advance()) {
        return std::nullopt;
      }
    }
  }

private:
  bool advance() {
    run_ = streams_->ours();
    branch_ = 0;
    mark_ = 0;
    return run_.has_value();
  }
  void fill() {
    if (!started_) {
      started_ = true;
      advance();
    }
    while (run_ && branch_ >= run_->branches.size()) {
      advance();
    }
  }

  const Streams* streams_;
  std::optional<flow::Run> run_;
  std::size_t branch_ = 0;
  std::size_t mark_ = 0;
  bool started_ = false;
};

class Comparison {
public:
  Comparison(const Streams& streams, Verdict& verdict)
      : streams_(&streams), ours_(streams), verdict_(&verdict) {}

  void run(const std::function<bool()>& cancelled) {
    while (!verdict_->difference && !cancelled()) {
      const auto event = streams_->reference();
      if (!event) {
        break;
      }
      switch (event->kind) {
      case Event::Kind::synchronised:
        synchronised(event->offset);
        break;
      case Event::Kind::lost:
        ++verdict_->given_up;
        aligned_ = false;
        break;
      case Event::Kind::unfinished:
        if (const flow::Branch* ours = ours_.peek();
            aligned_ && ours != nullptr && ours->from == event->branch.from) {
          ++verdict_->unjudged;
          ours_.pop();
        }
        break;
      case Event::Kind::branch:
        if (aligned_) {
          compare(*event);
        }
        break;
      }
    }
    // Only our decoder reports the following branches: the reference does not resume there.
    while (!verdict_->difference && ours_.peek() != nullptr) {
      if (aligned_ && ours_.peek()->kind != BranchKind::gap) {
        differ(end_offset_, text(*ours_.peek()), "the end of the trace");
        return;
      }
      ++verdict_->unjudged;
      ours_.pop();
    }
  }

private:
  // Both start at the same PSB, or the comparison waits for a PSB at which ours started.
  void synchronised(std::uint64_t offset) {
    aligned_ = false;
    if (!mark_ || *mark_ < offset) {
      mark_ = ours_.seek(offset, verdict_->unjudged);
    }
    aligned_ = mark_ == offset;
    fresh_ = true;
    before_.clear();
  }

  void compare(const Event& event) {
    end_offset_ = event.offset;
    const flow::Branch* ours = ours_.peek();
    const bool begins = std::exchange(fresh_, false) && event.branch.kind == BranchKind::on;
    if (begins && (ours == nullptr || ours->kind != BranchKind::on)) {
      return; // ours did not start at the PSB
    }
    const bool ended = ours == nullptr || ours->gap == flow::GapReason::truncated;
    const bool may_be_direct =
        event.branch.kind == BranchKind::jump || event.branch.kind == BranchKind::call;
    if (ended && may_be_direct) {
      return; // after the last packet, libipt follows direct branches that may not have been
              // executed
    }
    if (ours == nullptr) {
      differ(event.offset, "the end of the trace", text(event.branch));
      return;
    }
    if (ours_.lacks_code()) {
      aligned_ = false; // no comparison is possible: libipt may still report an event there
      return;
    }
    if (!same(*ours, event.branch)) {
      differ(event.offset, text(*ours), text(event.branch));
      return;
    }
    ++verdict_->compared;
    before_.push_back(text(*ours));
    if (before_.size() > context_branches) {
      before_.pop_front();
    }
    ours_.pop();
  }

  void differ(std::uint64_t offset, std::string ours, std::string reference) {
    verdict_->difference = Difference{.tid = ours_.tid(),
                                      .offset = offset,
                                      .ours = std::move(ours),
                                      .reference = std::move(reference),
                                      .before = {before_.begin(), before_.end()}};
  }

  const Streams* streams_;
  Ours ours_;
  Verdict* verdict_;
  std::optional<std::uint64_t> mark_;
  bool aligned_ = false;
  bool fresh_ = false; // nothing was compared since the reference started
  std::uint64_t end_offset_ = 0;
  std::deque<std::string> before_;
};

} // namespace

void compare(const Streams& streams, const std::function<bool()>& cancelled, Verdict& verdict) {
  Comparison(streams, verdict).run(cancelled);
}

} // namespace ptlens::engine
