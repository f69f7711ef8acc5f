#include "measure/explain/kinds.hpp"

#include "measure/explain/call_scan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace ptlens::measure {

namespace {

constexpr std::size_t most_kinds = 8;
constexpr double covered_share = 0.9;
constexpr double low_share = 0.05; // of a group's calls may be below a predicate's bound

// What every call of the explained function spent in one part, by number of the call.
struct Spent {
  std::vector<std::uint32_t> count;
  std::vector<std::uint64_t> time; // ns
  // Empty where no call was off the CPU in the part, ns.
  std::vector<std::uint64_t> blocked;
  std::vector<std::uint64_t> preempted;

  explicit Spent(std::size_t calls) : count(calls), time(calls) {}

  void add_off_cpu(std::uint32_t call, std::uint64_t more_blocked, std::uint64_t more_preempted) {
    if (blocked.empty()) {
      blocked.resize(time.size());
      preempted.resize(time.size());
    }
    blocked[call] += more_blocked;
    preempted[call] += more_preempted;
  }
  void subtract(std::uint32_t call, const ScannedCall& child) {
    const auto reduce = [](std::uint64_t& value, std::uint64_t by) {
      value -= std::min(value, by);
    };
    reduce(time[call], child.latency);
    if (!blocked.empty()) {
      reduce(blocked[call], child.blocked);
      reduce(preempted[call], child.preempted);
    }
  }
};

// The facts about every call of the explained function that predicates are about.
class Facts {
public:
  Facts(const Measurement& measurement, stacks::FunctionId function, const FunctionCalls& calls)
      : cache_(*measurement.cache), function_(function), calls_(calls) {
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      const auto [entry, added] = first_of_.emplace(calls.thread[call], call);
      if (!added && calls.start[call] < calls.start[entry->second]) {
        entry->second = call;
      }
      first_start_ = std::min(first_start_, calls.start[call]);
      last_start_ = std::max(last_start_, calls.start[call]);
    }
  }

  // Returns whether the call is the first one on its thread.
  [[nodiscard]] bool is_first(std::uint32_t call) const {
    return first_of_.at(calls_.thread[call]) == call;
  }
  [[nodiscard]] std::size_t first_calls() const { return first_of_.size(); }
  // Returns the time from the first start of any call.
  [[nodiscard]] std::uint64_t since_first(std::uint32_t call) const {
    return calls_.start[call] - first_start_;
  }
  [[nodiscard]] std::uint64_t span() const { return last_start_ - first_start_; }

  // Returns what every call spent in the part.
  [[nodiscard]] Spent spent_in(const PartValues& part) const {
    Spent spent(calls_.size());
    if (part.part.key.kind == PartKind::child || part.part.key.kind == PartKind::unknown) {
      scan_calls(cache_, part.edge, [&](const ScannedCall& call) {
        const std::uint32_t parent = calls_.index.number(call.thread, call.parent);
        if (parent != NumberedCalls::none) {
          ++spent.count[parent];
          spent.time[parent] += call.latency;
          if ((call.blocked | call.preempted) != 0) {
            spent.add_off_cpu(parent, call.blocked, call.preempted);
          }
        }
      });
      return spent;
    }
    spent.time = calls_.latency;
    for (const FunctionCalls::OffCpu& off : calls_.off_cpu) {
      spent.add_off_cpu(off.call, off.blocked, off.preempted);
    }
    for (const cache::EdgeId edge : cache_.edges_from(function_)) {
      scan_calls(cache_, edge, [&](const ScannedCall& call) {
        const std::uint32_t parent = calls_.index.number(call.thread, call.parent);
        if (parent != NumberedCalls::none) {
          spent.subtract(parent, call);
        }
      });
    }
    for (std::size_t call = 0; call < spent.blocked.size(); ++call) {
      std::uint64_t& own = spent.time[call];
      own -= std::min(own, spent.blocked[call] + spent.preempted[call]); // on-CPU alone
    }
    return spent;
  }

private:
  const cache::CallCache& cache_;
  stacks::FunctionId function_;
  const FunctionCalls& calls_;
  std::map<std::uint32_t, std::uint32_t> first_of_; // call, by thread
  std::uint64_t first_start_ = UINT64_MAX;
  std::uint64_t last_start_ = 0;
};

struct Judged {
  Predicate predicate;
  double precision = 0;
  double recall = 0;

  [[nodiscard]] double f1() const {
    return precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
  }
};

// Finds the best predicate for one group of slow calls.
class Describer {
public:
  using Members = std::vector<std::uint32_t>; // numbers of calls, ascending

  Describer(const Measurement& measurement, const Facts& facts, const FunctionCalls& calls,
            const PartValues& part, const Members& members)
      : measurement_(measurement), facts_(facts), calls_(calls), part_(part), members_(members) {}

  [[nodiscard]] Judged best() {
    const PartKind kind = part_.part.key.kind;
    const bool is_call = kind == PartKind::child || kind == PartKind::unknown;
    if (is_call) {
      consider_bound(Predicate::Kind::count, spent().count);
    }
    if (is_call || kind == PartKind::blocked) {
      consider_bound(Predicate::Kind::blocked, spent().blocked);
    }
    if (is_call || kind == PartKind::preempted) {
      consider_bound(Predicate::Kind::preempted, spent().preempted);
    }
    consider({.kind = Predicate::Kind::first}, facts_.first_calls(),
             [this](std::uint32_t call) { return facts_.is_first(call); });
    consider_cold_start();
    consider_caller();
    consider_thread();
    // That the part is long is true of every group. It is the answer only where nothing else is.
    constexpr double useful = 0.5;
    if (best_.f1() < useful) {
      consider_bound(Predicate::Kind::duration, spent().time);
    }
    return best_;
  }

private:
  [[nodiscard]] const Spent& spent() {
    if (!spent_) {
      spent_ = facts_.spent_in(part_);
    }
    return *spent_;
  }

  // Returns the value that all but a few members reach.
  template <class Value>
  [[nodiscard]] std::uint64_t bound(const Value& value) const {
    std::vector<std::uint64_t> values;
    for (const std::uint32_t call : members_) {
      values.push_back(value(call));
    }
    const auto at = static_cast<std::ptrdiff_t>(low_share * static_cast<double>(values.size()));
    std::ranges::nth_element(values, values.begin() + at);
    return values[static_cast<std::size_t>(at)];
  }

  // `values`: by number of a call; empty: all are 0.
  template <class Value>
  void consider_bound(Predicate::Kind kind, const std::vector<Value>& values) {
    if (values.empty()) {
      return;
    }
    const std::uint64_t least = bound([&values](std::uint32_t call) { return values[call]; });
    if (least > 0) {
      consider({.kind = kind, .part = part_.part.key, .at_least = least},
               static_cast<std::size_t>(
                   std::ranges::count_if(values, [least](Value value) { return value >= least; })),
               [&values, least](std::uint32_t call) { return values[call] >= least; });
    }
  }

  void consider_cold_start() {
    std::vector<std::uint64_t> starts;
    for (const std::uint32_t call : members_) {
      starts.push_back(facts_.since_first(call));
    }
    std::ranges::sort(starts);
    const auto at =
        static_cast<std::size_t>((1 - low_share) * static_cast<double>(starts.size() - 1));
    constexpr double begin = 0.1; // of the recording
    if (static_cast<double>(starts[at]) < begin * static_cast<double>(facts_.span())) {
      consider_all({.kind = Predicate::Kind::cold_start, .at_least = starts[at]},
                   [this, last = starts[at]](std::uint32_t call) {
                     return facts_.since_first(call) <= last;
                   });
    }
  }

  template <class Value>
  [[nodiscard]] auto most_common(const Value& value) const {
    std::map<decltype(value(0)), std::size_t> counts;
    for (const std::uint32_t call : members_) {
      ++counts[value(call)];
    }
    return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })
        ->first;
  }

  void consider_caller() {
    const stacks::SiteId site =
        most_common([this](std::uint32_t call) { return calls_.site[call]; });
    if (site != stacks::SiteId::none) {
      consider_all(
          {.kind = Predicate::Kind::caller, .part = {.kind = PartKind::child, .site = site}},
          [this, site](std::uint32_t call) { return calls_.site[call] == site; });
    }
  }

  void consider_thread() {
    const std::uint32_t thread =
        most_common([this](std::uint32_t call) { return calls_.thread[call]; });
    consider_all({.kind = Predicate::Kind::thread, .tid = measurement_.threads[thread].tid},
                 [this, thread](std::uint32_t call) { return calls_.thread[call] == thread; });
  }

  // Considers a predicate that holds for `all` calls.
  template <class Holds>
  void consider(const Predicate& predicate, std::size_t all, const Holds& holds) {
    const auto found = static_cast<double>(std::ranges::count_if(members_, holds));
    const Judged judged{.predicate = predicate,
                        .precision = all == 0 ? 0 : found / static_cast<double>(all),
                        .recall = found / static_cast<double>(members_.size())};
    if (judged.f1() > best_.f1()) {
      best_ = judged;
    }
  }

  // Considers a predicate, and counts the calls that it holds for.
  template <class Holds>
  void consider_all(const Predicate& predicate, const Holds& holds) {
    std::size_t all = 0;
    for (std::uint32_t call = 0; call < calls_.size(); ++call) {
      all += holds(call) ? 1 : 0;
    }
    consider(predicate, all, holds);
  }

  const Measurement& measurement_;
  const Facts& facts_;
  const FunctionCalls& calls_;
  const PartValues& part_;
  const Members& members_;
  std::optional<Spent> spent_;
  Judged best_;
};

// Returns the members of each group, by part: the slow calls in which the part exceeds its typical
// mean most.
std::vector<std::vector<std::uint32_t>> groups_of(const Owners& owners,
                                                  std::span<const PartValues> parts) {
  std::vector<double> most(owners.size(), -std::numeric_limits<double>::infinity());
  std::vector<std::size_t> dominant(owners.size(), parts.size());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (const PartValue& value : parts[part].values) {
      const double excess = value.time - parts[part].part.typical_mean;
      if (owners.is_slow(value.owner) && excess > most[value.owner]) {
        most[value.owner] = excess;
        dominant[value.owner] = part;
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> groups(parts.size());
  for (std::uint32_t owner = 0; owner < owners.size(); ++owner) {
    if (dominant[owner] < parts.size()) {
      groups[dominant[owner]].push_back(owners.call[owner]);
    }
  }
  return groups;
}

} // namespace

std::vector<SlowKind> slow_kinds(const Measurement& measurement, stacks::FunctionId function,
                                 const Owners& owners, std::span<const PartValues> parts) {
  const FunctionCalls& calls = *owners.calls;
  const auto groups = groups_of(owners, parts);
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&groups](std::size_t one, std::size_t other) {
    return groups[one].size() > groups[other].size();
  });
  std::size_t size = 0; // of the list of kinds
  std::size_t covered = 0;
  while (size < std::min(order.size(), most_kinds) && !groups[order[size]].empty() &&
         static_cast<double>(covered) < covered_share * static_cast<double>(calls.slow.calls)) {
    covered += groups[order[size++]].size();
  }
  const Facts facts(measurement, function, calls);
  std::vector<SlowKind> kinds(size);
  const auto describe = [&](std::size_t kind) {
    const std::size_t part = order[kind];
    const auto& members = groups[part];
    const Judged judged = Describer(measurement, facts, calls, parts[part], members).best();
    const auto slowest = std::ranges::max_element(
        members, {}, [&calls](std::uint32_t call) { return calls.latency[call]; });
    kinds[kind] = {.calls = members.size(),
                   .component = part,
                   .predicate = judged.predicate,
                   .precision = judged.precision,
                   .recall = judged.recall,
                   .example = ExampleCall{.tid = measurement.threads[calls.thread[*slowest]].tid,
                                          .start = calls.start[*slowest]}};
  };
  do_tasks(size, describe);
  return kinds;
}

} // namespace ptlens::measure
