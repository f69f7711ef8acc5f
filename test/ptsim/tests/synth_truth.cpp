// Both sides in the same terms.
#include "synth_truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ptlens::ptsim::synth::testing {
namespace {

stacks::CallState state_of(CallState state) {
  switch (state) {
  case CallState::complete:
    return stacks::CallState::complete;
  case CallState::unwound:
    return stacks::CallState::unwound;
  default:
    return stacks::CallState::incomplete;
  }
}

class Collector : public CallSink {
public:
  Collector(View& view, const Process& process, const Clock& clock)
      : view_(&view), graph_(&process.graph()), clock_(&clock) {
    for (const Mapping& mapping : process.mappings()) {
      const ElfCode& elf = process.binary(mapping);
      for (const CodeSegment& segment : elf.segments()) {
        if ((segment.file_offset & ~page_mask) == mapping.file_offset) {
          codes_.push_back(
              {mapping.start, mapping.end, mapping.start - (segment.address & ~page_mask)});
        }
      }
    }
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  Collector(Collector&&) = delete;
  Collector& operator=(Collector&&) = delete;

  // Calls come as they end: they are put in order of their starts.
  ~Collector() override {
    for (auto& [tid, thread] : *view_) {
      auto& order = orders_[tid];
      std::vector<std::size_t> by_start(order.size());
      for (std::size_t index = 0; index < by_start.size(); ++index) {
        by_start[index] = index;
      }
      std::ranges::sort(by_start, {}, [&](std::size_t index) { return order[index]; });
      std::vector<SeenCall> sorted;
      sorted.reserve(by_start.size());
      for (const std::size_t index : by_start) {
        sorted.push_back(thread.calls[index]);
      }
      thread.calls = std::move(sorted);
    }
  }

  void ended(const EndedCall& call) override {
    const Frame& frame = *call.frame;
    const FunctionNode& function = graph_->function(frame.function);
    const std::string_view binary = graph_->binaries()[function.binary].path();
    ThreadView& thread = (*view_)[call.tid];
    if (call.state == CallState::lost) {
      return;
    }
    if (frame.kind == Frame::Kind::handler && call.state == CallState::complete) {
      ++thread.handlers[{binary, function.address}];
      return;
    }
    if (!frame.seen || frame.kind == Frame::Kind::handler) {
      ++thread.unseen[{binary, function.address}];
      return;
    }
    const std::uint64_t start = clock_->ns_at(frame.start);
    thread.calls.push_back({binary, function.address, elf_address(frame.caller),
                            state_of(call.state), frame.kind == Frame::Kind::tail_call, start,
                            clock_->ns_at(call.end) - start, 0, call.off_cpu_ns});
    orders_[call.tid].push_back(frame.start);
  }
  void lost(pid_t, std::uint64_t, std::uint64_t, std::string_view) override {}

private:
  static constexpr std::uint64_t page_mask = 4095;
  struct Code {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t base = 0; // process address - ELF address
  };

  [[nodiscard]] std::uint64_t elf_address(std::uint64_t address) const {
    const auto code = std::ranges::find_if(
        codes_, [address](const Code& of) { return address >= of.start && address < of.end; });
    return code == codes_.end() ? address : address - code->base;
  }

  View* view_;
  const CodeGraph* graph_;
  const Clock* clock_;
  std::vector<Code> codes_;
  std::map<std::int32_t, std::vector<std::uint64_t>> orders_;
};

std::string describe(const SeenCall& call) {
  const char* state = call.state == stacks::CallState::complete  ? "complete"
                      : call.state == stacks::CallState::unwound ? "unwound"
                                                                 : "incomplete";
  return fmt::format("{}+{:#x} from {:#x} at {} for {}, {}{}", call.binary, call.address, call.site,
                     call.start, call.latency, state, call.tail_call ? ", tail call" : "");
}

std::string first_difference(const std::vector<SeenCall>& truth,
                             const std::vector<SeenCall>& ours) {
  const auto [there, here] = std::ranges::mismatch(
      truth, ours, [](const SeenCall& one, const SeenCall& other) { return one.same_call(other); });
  if (there == truth.end() && here == ours.end()) {
    return "";
  }
  return fmt::format("{} calls in truth, {} are ours; call {}: truth {}; ours {}", truth.size(),
                     ours.size(), there - truth.begin(),
                     there == truth.end() ? "ended" : describe(*there),
                     here == ours.end() ? "ended" : describe(*here));
}

} // namespace

std::unique_ptr<CallSink> collect(View& view, const Process& process, const Clock& clock) {
  return std::make_unique<Collector>(view, process, clock);
}

View view_of(const measure::test::MeasuredCalls& measurement) {
  View view;
  const stacks::CallTable& calls = measurement.calls;
  for (std::size_t index = 0; index < calls.size(); ++index) {
    const stacks::FunctionInfo& function = measurement.functions[calls.function[index]];
    ThreadView& thread = view[measurement.threads[calls.thread[index]].tid];
    if (calls.site[index] != stacks::SiteId::none) {
      thread.calls.push_back({function.binary, function.address,
                              measurement.sites[calls.site[index]].address, calls.state[index],
                              calls.tail_call[index] != 0, calls.start[index], calls.latency[index],
                              calls.uncertainty[index], calls.off_cpu(index)});
    } else if (function.name.starts_with('[')) {
      continue; // not a function: a signal, or code without a symbol
    } else if (calls.state[index] == stacks::CallState::complete) {
      ++thread.handlers[{function.binary, function.address}];
    } else {
      ++thread.unseen[{function.binary, function.address}];
    }
  }
  return view;
}

std::string difference(const View& truth, const View& ours) {
  for (const auto& [tid, theirs] : truth) {
    const auto found = ours.find(tid);
    const ThreadView none;
    const ThreadView& thread = found == ours.end() ? none : found->second;
    if (const std::string calls = first_difference(theirs.calls, thread.calls); !calls.empty()) {
      return fmt::format("thread {}: {}", tid, calls);
    }
    if (theirs.handlers != thread.handlers) {
      return fmt::format("thread {}: signal handlers differ", tid);
    }
    for (const auto& [place, count] : thread.unseen) {
      const auto known = theirs.unseen.find(place);
      if (known == theirs.unseen.end() || known->second < count) {
        return fmt::format("thread {}: {} incomplete calls of {}+{:#x} without a begin, truth {}",
                           tid, count, place.first, place.second,
                           known == theirs.unseen.end() ? 0 : known->second);
      }
    }
  }
  for (const auto& [tid, thread] : ours) {
    if (!truth.contains(tid)) {
      return fmt::format("thread {} is not in truth", tid);
    }
  }
  return "";
}

} // namespace ptlens::ptsim::synth::testing
