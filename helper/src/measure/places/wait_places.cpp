#include "measure/places/wait_places.hpp"

#include <algorithm>

namespace ptlens::measure {

InnermostCalls::InnermostCalls(const Measurement& measurement, const stacks::CallTable& calls)
    : measurement_(measurement), calls_(calls) {
  std::uint32_t row = 0;
  for (std::uint32_t thread = 0; thread <= measurement.threads.size(); ++thread) {
    while (row < calls.size() && calls.thread[row] < thread) {
      ++row;
    }
    first_of_thread_.push_back(row);
  }
}

std::uint32_t InnermostCalls::at(std::int32_t tid, std::uint64_t time_ns) const {
  std::uint32_t found = none;
  for (std::uint32_t thread = 0; thread < measurement_.threads.size(); ++thread) {
    if (measurement_.threads[thread].tid != tid) {
      continue;
    }
    const auto begin = calls_.start.begin() + first_of_thread_[thread];
    const auto end = calls_.start.begin() + first_of_thread_[thread + 1];
    auto at = std::upper_bound(begin, end, time_ns);
    // The last call that began before, or one of its callers.
    auto call =
        at == begin
            ? stacks::CallIndex::none
            : stacks::CallIndex{static_cast<std::uint32_t>(std::prev(at) - calls_.start.begin())};
    while (call != stacks::CallIndex::none) {
      const std::uint32_t row = index_of(call);
      if (calls_.start[row] + calls_.wall(row) > time_ns) {
        found = found == none || calls_.start[row] >= calls_.start[found] ? row : found;
        break;
      }
      call = calls_.parent[row];
    }
  }
  return found;
}

SourcePlace place_of(const waits::Waits& waits, stacks::SiteId site) {
  const stacks::FunctionInfo* const function = waits.function_of(site);
  if (function == nullptr) {
    return {};
  }
  return {.function = function->name,
          .binary = function->binary,
          .file = waits.sites[site].file,
          .line = waits.sites[site].line};
}

namespace {

// Fills in what the innermost call shows: a function of a system library was called from its call
// site, and any other function waited itself.
void add_call(const Measurement& measurement, const stacks::CallTable& calls, std::uint32_t row,
              Placed& placed) {
  const stacks::FunctionInfo& function = measurement.functions[calls.function[row]];
  const waits::Reason usual = waits::usual_reason(function.name);
  const bool is_system =
      usual != waits::Reason::unknown || waits::is_system_library(function.binary);
  if (placed.reason == waits::Reason::unknown && usual != waits::Reason::unknown) {
    placed.reason = usual;
    placed.likely = true;
  }
  if (!is_system) {
    placed.place = {.function = function.name, .binary = function.binary, .file = "", .line = 0};
    return;
  }
  placed.called = function.name.substr(0, function.name.find('@'));
  placed.lock = waits::lock_kind(function.name);
  const stacks::SiteId site = calls.site[row];
  if (measurement.sites.has(site) && measurement.functions.has(measurement.sites[site].function)) {
    const stacks::FunctionInfo& caller = measurement.functions[measurement.sites[site].function];
    placed.place = {.function = caller.name,
                    .binary = caller.binary,
                    .file = measurement.sites[site].file,
                    .line = measurement.sites[site].line};
  }
}

} // namespace

Placed place_of(const Measurement& measurement, const waits::Waits& waits, const waits::Wait& wait,
                const InnermostCalls* innermost, const stacks::CallTable* calls) {
  Placed placed{.reason = wait.reason, .likely = wait.likely};
  const waits::WaitPlace shown = waits.place(wait.stack);
  placed.place = place_of(waits, shown.site);
  placed.called = shown.called;
  placed.lock = wait.reason == waits::Reason::lock ? shown.lock : waits::LockKind::none;
  if (placed.place.function.empty() && innermost != nullptr) {
    if (const std::uint32_t row = innermost->at(wait.tid, wait.begin);
        row != InnermostCalls::none) {
      add_call(measurement, *calls, row, placed);
    }
  }
  return placed;
}

} // namespace ptlens::measure
