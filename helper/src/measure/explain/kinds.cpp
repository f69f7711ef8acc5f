#include "measure/explain/kinds.hpp"

#include "measure/explain/call_scan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace ptlens::measure {

namespace {

constexpr std::size_t most_kinds = 8;
constexpr double covered_share = 0.9;
constexpr double low_share = 0.05; // of a group's calls may be below a predicate's bound

// What a call of the explained function spent in one part.
struct Spent {
  std::uint64_t count = 0;
  std::uint64_t time = 0;
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;
};

// The facts about every call of the explained function that predicates are about.
class Facts {
public:
  Facts(const Measurement& measurement, stacks::FunctionId function, const FunctionCalls& calls)
      : measurement_(measurement), cache_(*measurement.cache), function_(function), calls_(calls),
        site_(calls.size(), stacks::SiteId::none), first_(calls.size(), 0) {
    std::map<std::uint32_t, std::uint32_t> first_of; // by thread
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      const auto [entry, added] = first_of.emplace(calls.thread[call], call);
      if (!added && calls.start[call] < calls.start[entry->second]) {
        entry->second = call;
      }
      first_start_ = std::min(first_start_, calls.start[call]);
      last_start_ = std::max(last_start_, calls.start[call]);
    }
    for (const auto& [thread, call] : first_of) {
      first_[call] = 1;
    }
    for (const cache::EdgeId edge : cache_.edges_to(function)) {
      scan_calls(cache_, edge, [&](const ScannedCall& call) {
        const std::uint32_t number = calls_.index.number(call.thread, call.order);
        if (number != NumberedCalls::none) {
          site_[number] = cache_.edge(edge).site;
        }
      });
    }
  }

  [[nodiscard]] stacks::SiteId site(std::uint32_t call) const { return site_[call]; }
  [[nodiscard]] bool is_first(std::uint32_t call) const { return first_[call] != 0; }
  // Returns the time from the first start of any call.
  [[nodiscard]] std::uint64_t since_first(std::uint32_t call) const {
    return calls_.start[call] - first_start_;
  }
  [[nodiscard]] std::uint64_t span() const { return last_start_ - first_start_; }

  // Returns what every call spent in the part, by number.
  [[nodiscard]] std::vector<Spent> spent_in(const PartValues& part) const {
    std::vector<Spent> spent(calls_.size());
    if (part.part.key.kind == PartKind::child || part.part.key.kind == PartKind::unknown) {
      scan_calls(cache_, part.edge, [&](const ScannedCall& call) {
        const std::uint32_t parent = calls_.index.number(call.thread, call.parent);
        if (parent != NumberedCalls::none) {
          ++spent[parent].count;
          add(spent[parent], call);
        }
      });
      return spent;
    }
    for (const cache::EdgeId edge : cache_.edges_to(function_)) {
      scan_calls(cache_, edge, [&](const ScannedCall& call) {
        const std::uint32_t number = calls_.index.number(call.thread, call.order);
        if (number != NumberedCalls::none) {
          add(spent[number], call);
        }
      });
    }
    for (const cache::EdgeId edge : cache_.edges_from(function_)) {
      scan_calls(cache_, edge, [&](const ScannedCall& call) {
        const std::uint32_t parent = calls_.index.number(call.thread, call.parent);
        if (parent != NumberedCalls::none) {
          subtract(spent[parent], call);
        }
      });
    }
    for (Spent& own : spent) {
      own.time -= std::min(own.time, own.blocked + own.preempted); // on-CPU alone
    }
    return spent;
  }

private:
  static void add(Spent& spent, const ScannedCall& call) {
    spent.time += call.latency;
    spent.blocked += call.blocked;
    spent.preempted += call.preempted;
  }
  static void subtract(Spent& spent, const ScannedCall& call) {
    spent.time -= std::min(spent.time, call.latency);
    spent.blocked -= std::min(spent.blocked, call.blocked);
    spent.preempted -= std::min(spent.preempted, call.preempted);
  }

  const Measurement& measurement_;
  const cache::CallCache& cache_;
  stacks::FunctionId function_;
  const FunctionCalls& calls_;
  std::vector<stacks::SiteId> site_;
  std::vector<std::uint8_t> first_;
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
      : measurement_(measurement), facts_(facts), calls_(calls), part_(part), members_(members),
        spent_(facts.spent_in(part)) {}

  [[nodiscard]] Judged best() {
    const PartKind kind = part_.part.key.kind;
    const bool is_call = kind == PartKind::child || kind == PartKind::unknown;
    if (is_call) {
      consider_bound(Predicate::Kind::count, &Spent::count);
    }
    if (is_call || kind == PartKind::blocked) {
      consider_bound(Predicate::Kind::blocked, &Spent::blocked);
    }
    if (is_call || kind == PartKind::preempted) {
      consider_bound(Predicate::Kind::preempted, &Spent::preempted);
    }
    consider({.kind = Predicate::Kind::first},
             [this](std::uint32_t call) { return facts_.is_first(call); });
    consider_cold_start();
    consider_caller();
    consider_thread();
    // That the part is long is true of every group. It is the answer only where nothing else is.
    constexpr double useful = 0.5;
    if (best_.f1() < useful) {
      consider_bound(Predicate::Kind::duration, &Spent::time);
    }
    return best_;
  }

private:
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

  void consider_bound(Predicate::Kind kind, std::uint64_t Spent::* member) {
    const std::uint64_t least =
        bound([this, member](std::uint32_t call) { return spent_[call].*member; });
    if (least > 0) {
      consider({.kind = kind, .part = part_.part.key, .at_least = least},
               [this, member, least](std::uint32_t call) { return spent_[call].*member >= least; });
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
      consider({.kind = Predicate::Kind::cold_start, .at_least = starts[at]},
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
        most_common([this](std::uint32_t call) { return facts_.site(call); });
    if (site != stacks::SiteId::none) {
      consider({.kind = Predicate::Kind::caller, .part = {.kind = PartKind::child, .site = site}},
               [this, site](std::uint32_t call) { return facts_.site(call) == site; });
    }
  }

  void consider_thread() {
    const std::uint32_t thread =
        most_common([this](std::uint32_t call) { return calls_.thread[call]; });
    consider({.kind = Predicate::Kind::thread, .tid = measurement_.threads[thread].tid},
             [this, thread](std::uint32_t call) { return calls_.thread[call] == thread; });
  }

  template <class Holds>
  void consider(const Predicate& predicate, const Holds& holds) {
    std::size_t all = 0;
    for (std::uint32_t call = 0; call < calls_.size(); ++call) {
      all += holds(call) ? 1 : 0;
    }
    const auto found = static_cast<double>(std::ranges::count_if(members_, holds));
    const Judged judged{.predicate = predicate,
                        .precision = all == 0 ? 0 : found / static_cast<double>(all),
                        .recall = found / static_cast<double>(members_.size())};
    if (judged.f1() > best_.f1()) {
      best_ = judged;
    }
  }

  const Measurement& measurement_;
  const Facts& facts_;
  const FunctionCalls& calls_;
  const PartValues& part_;
  const Members& members_;
  std::vector<Spent> spent_;
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
  const Facts facts(measurement, function, calls);
  std::vector<SlowKind> kinds;
  double covered = 0;
  for (const std::size_t part : order) {
    const auto& members = groups[part];
    if (members.empty() || kinds.size() == most_kinds ||
        covered >= covered_share * static_cast<double>(calls.slow.calls)) {
      break;
    }
    const Judged judged = Describer(measurement, facts, calls, parts[part], members).best();
    const auto slowest = std::ranges::max_element(
        members, {}, [&calls](std::uint32_t call) { return calls.latency[call]; });
    kinds.push_back({.calls = members.size(),
                     .component = part,
                     .predicate = judged.predicate,
                     .precision = judged.precision,
                     .recall = judged.recall,
                     .example = ExampleCall{.tid = measurement.threads[calls.thread[*slowest]].tid,
                                            .start = calls.start[*slowest]}});
    covered += static_cast<double>(members.size());
  }
  return kinds;
}

} // namespace ptlens::measure
