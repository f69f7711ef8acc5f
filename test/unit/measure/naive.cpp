// Definitions, spelt out.
#include "measure/naive.hpp"

#include <algorithm>
#include <cmath>

namespace ptlens::measure::naive {

using stacks::CallIndex;

std::uint64_t percentile(const test::Recording& m, const Calls& calls, std::uint64_t per_mille) {
  std::uint64_t best = 0;
  bool found = false;
  for (const std::uint32_t candidate : calls) {
    const std::uint64_t value = m.calls.latency[candidate];
    std::uint64_t not_above = 0;
    for (const std::uint32_t call : calls) {
      not_above += m.calls.latency[call] <= value ? 1 : 0;
    }
    if (not_above * 1000 >= per_mille * calls.size() && (!found || value < best)) {
      best = value;
      found = true;
    }
  }
  return best;
}

std::uint64_t total(const test::Recording& m, const Calls& calls) {
  std::uint64_t sum = 0;
  for (const std::uint32_t call : calls) {
    sum += m.calls.latency[call];
  }
  return sum;
}

std::uint64_t off_cpu(const test::Recording& m, const Calls& calls) {
  std::uint64_t sum = 0;
  for (const std::uint32_t call : calls) {
    sum += m.calls.blocked[call] + m.calls.preempted[call];
  }
  return sum;
}

double mean(const test::Recording& m, const Calls& calls) {
  return calls.empty() ? 0
                       : static_cast<double>(static_cast<long double>(total(m, calls)) /
                                             static_cast<long double>(calls.size()));
}

double stddev(const test::Recording& m, const Calls& calls) {
  long double squares = 0;
  const long double middle = mean(m, calls);
  for (const std::uint32_t call : calls) {
    const long double deviation = static_cast<long double>(m.calls.latency[call]) - middle;
    squares += deviation * deviation;
  }
  return calls.empty()
             ? 0
             : static_cast<double>(std::sqrt(squares / static_cast<long double>(calls.size())));
}

bool is_inside(const test::Recording& m, std::uint32_t call, std::uint32_t outer) {
  for (CallIndex above = m.calls.parent[call]; above != CallIndex::none;
       above = m.calls.parent[index_of(above)]) {
    if (above == CallIndex{outer}) {
      return true;
    }
  }
  return false;
}

std::uint64_t outermost_on_cpu(const test::Recording& m, const Calls& calls) {
  std::uint64_t sum = 0;
  for (const std::uint32_t call : calls) {
    const bool inside = std::ranges::any_of(calls, [&](std::uint32_t other) {
      return m.calls.function[other] == m.calls.function[call] && is_inside(m, call, other);
    });
    if (!inside) {
      sum += m.calls.latency[call] - m.calls.blocked[call] - m.calls.preempted[call];
    }
  }
  return sum;
}

Calls calls_of(const test::Recording& m, stacks::FunctionId function) {
  Calls calls;
  for (std::uint32_t call = 0; call < m.calls.size(); ++call) {
    if (m.calls.function[call] == function) {
      calls.push_back(call);
    }
  }
  return calls;
}

Calls only_complete(const test::Recording& m, const Calls& calls) {
  Calls complete;
  std::ranges::copy_if(calls, std::back_inserter(complete), [&](std::uint32_t call) {
    return m.calls.state[call] == stacks::CallState::complete;
  });
  return complete;
}

CallsByPlace by_caller(const test::Recording& m, const Calls& calls) {
  CallsByPlace rows;
  for (const std::uint32_t call : calls) {
    const CallIndex parent = m.calls.parent[call];
    const stacks::SiteId site = m.calls.site[call];
    if (parent != CallIndex::none) {
      rows[{m.calls.function[index_of(parent)], site}].push_back(call);
    } else if (site != stacks::SiteId::none) {
      rows[{m.sites[site].function, site}].push_back(call);
    }
  }
  return rows;
}

CallsByPlace children_of(const test::Recording& m, const Calls& calls) {
  CallsByPlace rows;
  for (std::uint32_t call = 0; call < m.calls.size(); ++call) {
    if (m.calls.state[call] == stacks::CallState::complete &&
        std::ranges::find(calls, index_of(m.calls.parent[call])) != calls.end()) {
      rows[{m.calls.function[call], m.calls.site[call]}].push_back(call);
    }
  }
  return rows;
}

std::map<Path, Frame> stacks_of(const test::Recording& m, const Calls& counted, const Calls* top,
                                Time time) {
  std::map<Path, Frame> frames;
  for (const std::uint32_t call : counted) {
    Path path;
    std::size_t from_top = 0;
    for (std::uint32_t at = call; at != index_of(CallIndex::none);
         at = index_of(m.calls.parent[at])) {
      path.push_back(m.calls.function[at]);
      if (top != nullptr && std::ranges::find(*top, at) != top->end()) {
        from_top = path.size();
      }
    }
    if (top != nullptr) {
      path.resize(from_top);
    }
    std::ranges::reverse(path);
    Calls own_children;
    for (std::uint32_t child = 0; child < m.calls.size(); ++child) {
      if (m.calls.parent[child] == CallIndex{call}) {
        own_children.push_back(child);
      }
    }
    const std::uint64_t wall = m.calls.latency[call] - total(m, own_children);
    const std::uint64_t off = off_cpu(m, {call}) - off_cpu(m, own_children);
    Frame& frame = frames[path];
    frame.self += time == Time::wall ? wall : time == Time::off ? off : wall - off;
    ++frame.calls;
  }
  return frames;
}

} // namespace ptlens::measure::naive
