// Between two branches both calls run the same instructions. So where their next branches differ,
// the one with the lower address was taken by one call, and passed by the other.
#include "engine/trace/parting_backend.hpp"

#include "base/cancellation.hpp"
#include "engine/trace/trace_threads.hpp"
#include "flow/code/code_time.hpp"
#include "stacks/transfer/symbolizer.hpp"
#include "stacks/transfer/transfer_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptlens::engine {
namespace {

using flow::Branch;
using flow::BranchKind;

constexpr std::size_t most_branches = 1'000'000; // of one call

// Collects the branches of a call's own code: those of the calls that it makes are left out.
class OwnBranches {
public:
  OwnBranches(const measure::TracedCall& call, const stacks::FunctionInfo& function)
      : call_(&call), function_(&function), skip_(call.skip) {}

  void take(const Branch& branch, const symbols::AddressSpaceVersion& space) {
    if (state_ == State::done || branch.time_ns < call_->start) {
      return;
    }
    if (state_ == State::before) {
      begin(branch, space);
    } else {
      follow(branch);
    }
  }

  [[nodiscard]] bool done() const { return state_ == State::done; }
  [[nodiscard]] const std::vector<Branch>& branches() const { return branches_; }
  [[nodiscard]] const symbols::AddressSpaceVersion* space() const { return space_; }

private:
  enum class State : std::uint8_t { before, inside, done };

  void begin(const Branch& branch, const symbols::AddressSpaceVersion& space) {
    const bool transfers = branch.kind == BranchKind::call || branch.kind == BranchKind::jump ||
                           branch.kind == BranchKind::cond || branch.kind == BranchKind::indirect;
    const symbols::MappedCode* const code = transfers ? space.find(branch.to) : nullptr;
    const bool enters = code != nullptr && code->path == function_->binary &&
                        branch.to - code->bias == function_->address;
    if (enters && skip_ > 0) {
      --skip_;
    } else if (enters) {
      state_ = State::inside;
      space_ = &space;
    } else if (branch.time_ns > call_->end) {
      state_ = State::done;
    }
  }

  void follow(const Branch& branch) {
    const bool is_own = depth_ == 0;
    switch (branch.kind) {
    case BranchKind::call:
      if (stacks::reads_instruction_pointer(branch.to, branch.address_behind())) {
        return;
      }
      ++depth_;
      break;
    case BranchKind::ret:
      if (is_own) {
        state_ = State::done;
      } else {
        --depth_;
      }
      break;
    case BranchKind::jump:
    case BranchKind::cond:
    case BranchKind::indirect:
      break;
    case BranchKind::on: // elsewhere: a signal handler, or another place after a break
      state_ = resume_ == 0 || branch.to == resume_ ? state_ : State::done;
      return;
    case BranchKind::off:
    case BranchKind::syscall:
    case BranchKind::interrupt:
      resume_ = branch.kind == BranchKind::syscall ? branch.address_behind() : branch.from;
      return;
    case BranchKind::gap:
      state_ = State::done;
      return;
    }
    if (is_own) {
      branches_.push_back(branch);
    }
    if (branches_.size() == most_branches || branch.time_ns > call_->end) {
      state_ = State::done;
    }
  }

  const measure::TracedCall* call_;
  const stacks::FunctionInfo* function_;
  std::uint32_t skip_;
  State state_ = State::before;
  std::uint32_t depth_ = 0;
  std::uint64_t resume_ = 0;
  std::vector<Branch> branches_;
  const symbols::AddressSpaceVersion* space_ = nullptr;
};

measure::SourcePlace place_at(stacks::Symbolizer& symbolizer,
                              const symbols::AddressSpaceVersion& space, std::uint64_t address) {
  const stacks::SiteId id = symbolizer.site(space, Branch{.from = address});
  if (!symbolizer.sites().has(id)) {
    return {};
  }
  const stacks::CallSite& site = symbolizer.sites()[id];
  const bool known = symbolizer.functions().has(site.function);
  return {.function = known ? symbolizer.functions()[site.function].name : std::string(),
          .binary = known ? symbolizer.functions()[site.function].binary : std::string(),
          .file = site.file,
          .line = site.line};
}

std::optional<measure::Parting> parting_of(const OwnBranches& call, const OwnBranches& twin) {
  const auto [one, other] =
      std::ranges::mismatch(call.branches(), twin.branches(), [](const Branch& a, const Branch& b) {
        return a.from == b.from && a.to == b.to;
      });
  if (one == call.branches().end() || other == twin.branches().end()) {
    return std::nullopt;
  }
  const bool call_took = one->from <= other->from;
  const bool twin_took = other->from <= one->from;
  const Branch& at = call_took ? *one : *other;
  stacks::Symbolizer symbolizer;
  const symbols::AddressSpaceVersion& space = call_took ? *call.space() : *twin.space();
  const symbols::MappedCode* const code = space.find(at.from);
  return measure::Parting{
      .branch = place_at(symbolizer, space, at.from),
      .address = code == nullptr ? at.from : at.from - code->bias,
      .call = place_at(symbolizer, space, call_took ? one->to : at.address_behind()),
      .twin = place_at(symbolizer, space, twin_took ? other->to : at.address_behind())};
}

} // namespace

Result<std::optional<measure::Parting>>
find_parting(const LoadedRecording& loaded, std::span<const measure::TracedPair> pairs,
             std::span<const stacks::FunctionInfo> functions, const Progress& progress) {
  const Cancellable scope(progress);
  std::vector<std::pair<OwnBranches, OwnBranches>> taken;
  std::unordered_map<std::int32_t, std::vector<OwnBranches*>> by_thread;
  taken.reserve(pairs.size());
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    auto& [call, twin] = taken.emplace_back(OwnBranches(pairs[at].call, functions[at]),
                                            OwnBranches(pairs[at].twin, functions[at]));
    by_thread[pairs[at].call.tid].push_back(&call);
    by_thread[pairs[at].twin.tid].push_back(&twin);
  }
  Branches source(loaded, flow::Detail::branches);
  std::unordered_map<std::int32_t, flow::CodeTime> code_times;
  const auto take = [&](const flow::Run& run) {
    const auto of_thread = by_thread.find(run.tid);
    if (of_thread == by_thread.end()) {
      return;
    }
    for (const Branch& branch : run.branches) {
      const std::uint64_t time = code_times[run.tid].of(branch);
      const bool wanted = std::ranges::any_of(
          of_thread->second, [&](const OwnBranches* each) { return !each->done(); });
      if (!wanted) {
        return;
      }
      const auto& space = loaded.spaces->at(run.pid, time);
      for (OwnBranches* const each : of_thread->second) {
        each->take(branch, space);
      }
    }
  };
  const auto is_done = [&] {
    return std::ranges::all_of(
        taken, [](const auto& pair) { return pair.first.done() && pair.second.done(); });
  };
  const auto read = take_all(source, loaded.recording.trace_bytes(), progress, take, is_done);
  if (!read) {
    return std::unexpected(read.error());
  }
  for (const auto& [call, twin] : taken) {
    if (auto found = parting_of(call, twin)) {
      return found;
    }
  }
  return std::nullopt;
}

} // namespace ptlens::engine
