#include "measure/timeline/longest_parts.hpp"

#include "measure/places/innermost_calls.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::FunctionId;

std::uint64_t without(std::uint64_t whole, std::uint64_t part) {
  return whole > part ? whole - part : 0;
}

class PartFinder {
public:
  PartFinder(const Measurement& measurement, const CallSubset& rows)
      : measurement_(measurement), rows_(rows), parts_(rows.calls().size()) {
    const stacks::CallTable& calls = rows.calls();
    for (std::uint32_t row = 0; row < calls.size(); ++row) {
      row_of_.emplace(key(calls.thread[row], index_of(rows.order(row))), row);
      functions_.insert(calls.function[row]);
      begin_ = std::min(begin_, calls.start[row]);
      end_ = std::max(end_, calls.start[row] + calls.wall(row));
    }
    for (const FunctionId function : functions_) {
      read_calls_made_by(function);
    }
  }

  void add_causes(const waits::Waits& waits) {
    const stacks::CallTable& calls = rows_.calls();
    std::vector<std::pair<std::uint32_t, const waits::Wait*>> found;
    std::vector<ThreadTime> points;
    for (std::uint32_t row = 0; row < calls.size(); ++row) {
      const std::int32_t tid = measurement_.threads[calls.thread[row]].tid;
      for (const waits::Wait& wait :
           waits.within(tid, calls.start[row], calls.start[row] + calls.wall(row))) {
        found.emplace_back(row, &wait);
        points.push_back({.tid = tid, .time_ns = wait.begin});
      }
    }
    CallsNeeded needed(measurement_);
    for (const FunctionId function : functions_) {
      needed.add_calls_of(function);
      needed.add_calls_made_by(function);
    }
    const InnermostCalls innermost(measurement_, needed.edges(), std::move(points));
    for (const auto& [row, wait] : found) {
      const std::uint32_t at = innermost.at({.tid = wait->tid, .time_ns = wait->begin});
      if (at == InnermostCalls::none || wait->reason == waits::Reason::preempted) {
        continue;
      }
      const FunctionId function = innermost.calls().function[at];
      const bool is_own =
          innermost.calls().start[at] == calls.start[row] && function == calls.function[row];
      const WaitCause cause = cause_of(waits, *wait, measurement_.functions[function].name);
      parts_[row].causes[is_own ? FunctionId::none : function][cause] += wait->duration();
    }
  }

  std::vector<CallPart> parts(std::uint32_t row) const {
    const stacks::CallTable& calls = rows_.calls();
    std::uint64_t blocked = calls.blocked[row];
    std::uint64_t preempted = calls.preempted[row];
    std::uint64_t self = without(calls.latency[row], calls.children[row]);
    std::vector<CallPart> parts;
    for (const auto& [function, called] : parts_[row].called) {
      blocked = without(blocked, called.blocked);
      preempted = without(preempted, called.preempted);
      parts.push_back({.kind = CallPart::Kind::call,
                       .function = function,
                       .calls = called.calls,
                       .time = called.latency,
                       .off_cpu = called.blocked + called.preempted,
                       .cause = cause_in(row, function)});
    }
    self = without(self, blocked + preempted);
    parts.push_back({.kind = CallPart::Kind::blocked,
                     .time = blocked,
                     .off_cpu = blocked,
                     .cause = cause_in(row, FunctionId::none)});
    parts.push_back({.kind = CallPart::Kind::preempted, .time = preempted, .off_cpu = preempted});
    parts.push_back({.kind = CallPart::Kind::self, .time = self});
    std::erase_if(parts, [](const CallPart& part) { return part.time == 0; });
    std::ranges::stable_sort(parts, std::greater(), &CallPart::time);
    return parts;
  }

private:
  struct Called {
    std::uint64_t calls = 0;
    std::uint64_t latency = 0;
    std::uint64_t blocked = 0;
    std::uint64_t preempted = 0;
  };
  struct RowParts {
    std::map<FunctionId, Called> called;
    std::map<FunctionId, std::map<WaitCause, std::uint64_t>> causes; // none: of the call itself
  };

  static std::uint64_t key(std::uint32_t thread, std::uint32_t order) {
    return std::uint64_t{thread} << 32U | order;
  }

  void read_calls_made_by(FunctionId function) {
    const cache::CallCache& cache = *measurement_.cache;
    std::vector<std::uint32_t> orders;
    std::vector<std::uint32_t> distances;
    std::vector<std::uint64_t> latencies;
    for (const cache::EdgeId edge : cache.edges_from(function)) {
      const FunctionId made = cache.edge(edge).function;
      for (const cache::BlockEntry& entry : cache.blocks(edge)) {
        if (entry.first_start > end_ || entry.last_end < begin_) {
          continue;
        }
        const auto block = cache.block(entry);
        if (!block) {
          continue;
        }
        block->read_orders(entry, sized_for(entry, orders));
        block->distance.read(sized_for(entry, distances));
        block->latency.read(sized_for(entry, latencies));
        const auto called_by = [&](std::size_t call) -> Called* {
          const auto row = row_of_.find(key(entry.thread, orders[call] - distances[call]));
          return row == row_of_.end() || distances[call] == 0 ? nullptr
                                                              : &parts_[row->second].called[made];
        };
        for (std::size_t call = 0; call < entry.calls; ++call) {
          if (Called* const called = called_by(call)) {
            ++called->calls;
            called->latency += latencies[call];
          }
        }
        block->each_extra(entry, [&](std::size_t call, std::size_t extra) {
          if (Called* const called = called_by(call)) {
            called->blocked += block->blocked[extra];
            called->preempted += block->preempted[extra];
          }
        });
      }
    }
  }

  [[nodiscard]] std::optional<WaitCause> cause_in(std::uint32_t row, FunctionId function) const {
    const auto causes = parts_[row].causes.find(function);
    if (causes == parts_[row].causes.end()) {
      return std::nullopt;
    }
    return std::ranges::max_element(causes->second, {},
                                    [](const auto& each) { return each.second; })
        ->first;
  }

  const Measurement& measurement_;
  const CallSubset& rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> row_of_; // by thread and order
  std::set<FunctionId> functions_;                          // of the rows
  std::uint64_t begin_ = UINT64_MAX;
  std::uint64_t end_ = 0;
  std::vector<RowParts> parts_; // by row
};

} // namespace

std::vector<std::vector<CallPart>> longest_parts(const Measurement& measurement,
                                                 const CallSubset& rows, const waits::Waits* waits,
                                                 std::size_t most) {
  PartFinder finder(measurement, rows);
  if (waits != nullptr) {
    finder.add_causes(*waits);
  }
  std::vector<std::vector<CallPart>> found;
  for (std::uint32_t row = 0; row < rows.calls().size(); ++row) {
    std::vector<CallPart> parts = finder.parts(row);
    parts.resize(std::min(parts.size(), most));
    found.push_back(std::move(parts));
  }
  return found;
}

std::string_view word(CallPart::Kind kind) {
  constexpr std::array<std::string_view, 4> words = {"call", "blocked", "preempted", "self"};
  return words[static_cast<std::size_t>(kind)];
}

} // namespace ptlens::measure
