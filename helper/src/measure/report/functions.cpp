// The table of all functions: from the sums of the store, which reads no call, or in one pass over
// the table with one accumulator a function.
#include "measure/report/report.hpp"
#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace ptlens::measure {

namespace {

struct Sums {
  WideSum complete_latency = 0;
  WideSum inclusive = 0;
  WideSum self = 0;
  WideSum off_cpu = 0;
  std::array<std::uint64_t, 3> calls{}; // by state
};

std::uint64_t calls_of(const Sums& sums, stacks::CallState state) {
  return sums.calls.at(static_cast<std::size_t>(state));
}

std::vector<Sums> sums_of(const cache::CallCache& store) {
  std::vector<Sums> all;
  all.reserve(store.function_count());
  for (std::size_t function = 0; function < store.function_count(); ++function) {
    const cache::FunctionSums& sums = store.sums(function);
    all.push_back({.complete_latency = cache::wide(sums.complete_latency),
                   .inclusive = cache::wide(sums.inclusive),
                   .self = cache::wide(sums.self),
                   .off_cpu = cache::wide(sums.off_cpu),
                   .calls = sums.calls});
  }
  return all;
}

std::vector<Sums> sums_of(const Measurement& measurement) {
  const stacks::CallTable& calls = measurement.calls;
  std::vector<Sums> all(measurement.functions.size());
  for (std::size_t call = 0; call < calls.size(); ++call) {
    Sums& sums = all[calls.function[call]];
    const stacks::CallState state = calls.state[call];
    ++sums.calls.at(static_cast<std::size_t>(state));
    sums.complete_latency += state == stacks::CallState::complete ? calls.latency[call] : 0;
    sums.self += calls.self(call);
    if (calls.inner[call] == 0) {
      sums.inclusive += calls.latency[call];
      sums.off_cpu += calls.off_cpu(call);
    }
  }
  return all;
}

} // namespace

std::vector<FunctionRow> functions(const Measurement& measurement) {
  const std::vector<Sums> all =
      measurement.store != nullptr ? sums_of(*measurement.store) : sums_of(measurement);
  std::vector<FunctionRow> rows;
  for (std::size_t function = 0; function < all.size(); ++function) {
    const Sums& sums = all[function];
    const FunctionRow row{
        .function = static_cast<std::uint32_t>(function),
        .complete = calls_of(sums, stacks::CallState::complete),
        .incomplete = calls_of(sums, stacks::CallState::incomplete),
        .unwound = calls_of(sums, stacks::CallState::unwound),
        .mean = mean_of(sums.complete_latency, calls_of(sums, stacks::CallState::complete)),
        .inclusive = clamp_to_64_bits(sums.inclusive),
        .self = clamp_to_64_bits(sums.self),
        .off_cpu = clamp_to_64_bits(sums.off_cpu)};
    if (row.complete + row.incomplete + row.unwound > 0) {
      rows.push_back(row);
    }
  }
  std::ranges::sort(rows, [&](const FunctionRow& one, const FunctionRow& other) {
    const auto key = [&](const FunctionRow& row) {
      const stacks::FunctionInfo& function = measurement.functions[row.function];
      return std::tuple(~row.inclusive, std::string_view(function.name),
                        std::string_view(function.binary), function.address, row.function);
    };
    return key(one) < key(other);
  });
  return rows;
}

} // namespace ptlens::measure
