// Random call trees, built recursively to a small depth.
#include "measure/recordings.hpp"

#include "cache/reading/call_rows.hpp"
#include "cache/writing/table_cache.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ptlens::measure::test {

using stacks::CallIndex;
using stacks::CallState;
using stacks::FunctionId;

FunctionId add_function(Recording& measurement, const std::string& name, const std::string& binary,
                        std::uint64_t address) {
  stacks::FunctionInfo function;
  function.name = name;
  function.binary = binary;
  function.address = address;
  measurement.functions.push_back(function);
  return FunctionId{static_cast<std::uint32_t>(measurement.functions.size() - 1)};
}

Recording empty_recording(std::uint64_t trace_ns) {
  Recording measurement;
  measurement.recording.path = "perf.data";
  measurement.recording.trace_ns = trace_ns;
  stacks::ThreadInfo thread;
  thread.pid = 1;
  thread.tid = 1;
  thread.comm = "app";
  thread.last_ns = trace_ns;
  measurement.threads.push_back(thread);
  return measurement;
}

CallIndex add_call(Recording& measurement, const CallSpec& call) {
  stacks::CallTable& calls = measurement.calls;
  const CallIndex index{static_cast<std::uint32_t>(calls.size())};
  calls.thread.push_back(call.thread);
  calls.function.push_back(call.function);
  calls.parent.push_back(call.parent);
  calls.site.push_back(call.site);
  calls.start.push_back(call.start);
  calls.latency.push_back(call.latency);
  calls.uncertainty.push_back(call.uncertainty);
  calls.outside.push_back(0);
  calls.children.push_back(0);
  calls.blocked.push_back(call.blocked);
  calls.preempted.push_back(call.preempted);
  calls.switches.push_back(call.blocked + call.preempted > 0 ? 1 : 0);
  calls.state.push_back(call.state);
  calls.tail_call.push_back(0);
  calls.removed.push_back(call.removed);
  calls.end_unknown.push_back(call.end_unknown ? 1 : 0);
  std::uint8_t inner = 0;
  for (CallIndex above = call.parent; above != CallIndex::none;
       above = calls.parent[index_of(above)]) {
    inner |= static_cast<std::uint8_t>(calls.function[index_of(above)] == call.function);
  }
  calls.inner.push_back(inner);
  if (call.parent != CallIndex::none) {
    calls.children[index_of(call.parent)] += call.latency;
  }
  return index;
}

namespace {

class Generator {
public:
  explicit Generator(const RandomShape& shape) : shape_(shape), random_(shape.seed) {
    for (std::uint32_t function = 0; function < shape.functions; ++function) {
      measurement_.functions.emplace_back();
      measurement_.functions.back().name = fmt::format("function_{}(int)", function);
      measurement_.functions.back().binary = "/bin/app";
      measurement_.functions.back().address = 0x1000 + 16 * function;
      measurement_.functions.back().file = fmt::format("/src/file_{}.cpp", function % 2);
      measurement_.functions.back().line = 10 * (function + 1);
    }
    constexpr std::uint32_t sites_a_function = 3;
    for (std::uint32_t site = 0; site < shape.functions * sites_a_function; ++site) {
      const FunctionId function{site / sites_a_function};
      // Two sites in three share a line.
      measurement_.sites.push_back(
          {.function = function,
           .address = 0x1000 + 16 * index_of(function) + site % sites_a_function,
           .file = measurement_.functions[function].file,
           .line = measurement_.functions[function].line + (site % sites_a_function) / 2});
    }
  }

  Recording run() {
    constexpr std::uint64_t begin = 5'000'000;
    std::uint64_t end = begin;
    for (std::uint32_t thread = 0; thread < shape_.threads; ++thread) {
      thread_ = thread;
      left_ = static_cast<int>(shape_.calls);
      std::uint64_t now = begin + upto(100);
      const std::uint64_t first = now;
      while (left_ > 0) {
        now += upto(20);
        now = call(CallIndex::none, 0, now);
      }
      stacks::ThreadInfo info;
      info.pid = 100;
      info.tid = static_cast<std::int32_t>(100 + thread);
      info.comm = fmt::format("worker{}", thread);
      info.first_ns = first;
      info.last_ns = now;
      measurement_.threads.push_back(info);
      end = std::max(end, now);
    }
    measurement_.recording.path = "perf.data";
    measurement_.recording.trace_ns = end - begin;
    measurement_.recording.lost_ns = upto(50);
    fill_table();
    return std::move(measurement_);
  }

private:
  struct Draft {
    CallSpec spec;
    std::uint32_t depth = 0;
    std::uint32_t switches = 0;
  };

  std::uint64_t upto(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }
  bool chance(std::uint64_t percent) { return upto(99) < percent; }

  // Makes one call and what it calls; returns when it ended.
  std::uint64_t call(CallIndex parent, std::uint32_t depth, std::uint64_t start) {
    --left_;
    const auto index = static_cast<std::uint32_t>(drafts_.size());
    Draft draft;
    draft.depth = depth;
    draft.spec.function = FunctionId{static_cast<std::uint32_t>(upto(shape_.functions - 1))};
    draft.spec.parent = parent;
    draft.spec.thread = thread_;
    draft.spec.start = start;
    if (index_of(draft.spec.function) >= shape_.complete_functions) {
      draft.spec.state = chance(8)   ? CallState::incomplete
                         : chance(5) ? CallState::unwound
                                     : CallState::complete;
    }
    if (chance(85)) {
      const std::uint64_t function = parent == CallIndex::none
                                         ? upto(shape_.functions - 1)
                                         : index_of(drafts_[index_of(parent)].spec.function);
      draft.spec.site = stacks::SiteId{static_cast<std::uint32_t>(function * 3 + upto(2))};
    }
    drafts_.push_back(draft);

    std::uint64_t now = start;
    const auto spend = [&] {
      if (chance(30)) {
        return;
      }
      const std::uint64_t own = upto(chance(5) ? 5000 : 60);
      const std::uint64_t off = chance(15) ? upto(own) : 0;
      Draft& self = drafts_[index];
      (chance(50) ? self.spec.blocked : self.spec.preempted) += off;
      self.switches += off > 0 ? 1 : 0;
      now += own;
    };
    spend();
    while (left_ > 0 && depth < shape_.deepest && chance(60)) {
      const auto child = static_cast<std::uint32_t>(drafts_.size());
      now = call(CallIndex{index}, depth + 1, now);
      drafts_[index].spec.blocked += drafts_[child].spec.blocked;
      drafts_[index].spec.preempted += drafts_[child].spec.preempted;
      drafts_[index].switches += drafts_[child].switches;
      spend();
    }
    drafts_[index].spec.latency = now - start;
    return now;
  }

  void fill_table() {
    std::vector<std::uint32_t> order(drafts_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    if (shape_.seed % 2 == 1) {
      std::ranges::sort(order, {}, [&](std::uint32_t i) {
        const Draft& draft = drafts_[i];
        return std::tuple(draft.spec.thread, draft.spec.start, draft.depth, i);
      });
    }
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
    }
    for (const std::uint32_t i : order) {
      CallSpec spec = drafts_[i].spec;
      if (spec.parent != CallIndex::none) {
        spec.parent = CallIndex{place[index_of(spec.parent)]};
      }
      const CallIndex call = add_call(measurement_, spec);
      measurement_.calls.switches[index_of(call)] = drafts_[i].switches;
    }
  }

  RandomShape shape_;
  std::mt19937 random_;
  Recording measurement_;
  std::vector<Draft> drafts_;
  std::uint32_t thread_ = 0;
  int left_ = 0;
};

} // namespace

Recording random_recording(const RandomShape& shape) {
  return Generator(shape).run();
}

Recording::operator Measurement() const {
  auto cached = cache::cache_of(
      calls, {.functions = functions, .sites = sites, .threads = threads, .more = {}});
  EXPECT_TRUE(cached.has_value());
  return {.recording = recording,
          .threads = threads,
          .functions = functions,
          .sites = sites,
          .self_unknown = {},
          .cache = cached.value_or(nullptr),
          .inlined_names = {}};
}

} // namespace ptlens::measure::test
