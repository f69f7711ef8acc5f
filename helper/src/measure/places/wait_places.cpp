#include "measure/places/wait_places.hpp"

namespace ptlens::measure {

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
  const bool is_system = waits::usual_reason(function.name) != waits::Reason::unknown ||
                         waits::is_system_library(function.binary);
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

WaitCause cause_of(const waits::Waits& waits, const waits::Wait& wait, std::string_view innermost) {
  const bool has_place = waits.function_of(waits.place(wait.stack).site) != nullptr;
  const waits::Reason usual = wait.reason != waits::Reason::unknown || has_place
                                  ? waits::Reason::unknown
                                  : waits::usual_reason(innermost);
  return usual == waits::Reason::unknown ? WaitCause{.reason = wait.reason, .likely = wait.likely}
                                         : WaitCause{.reason = usual, .likely = true};
}

Placed place_of(const Measurement& measurement, const waits::Waits& waits, const waits::Wait& wait,
                const InnermostCalls* innermost) {
  Placed placed{.reason = wait.reason, .likely = wait.likely};
  const waits::WaitPlace shown = waits.place(wait.stack);
  placed.place = place_of(waits, shown.site);
  placed.called = shown.called;
  placed.lock = wait.reason == waits::Reason::lock ? shown.lock : waits::LockKind::none;
  if (placed.place.function.empty() && innermost != nullptr) {
    if (const std::uint32_t row = innermost->at({.tid = wait.tid, .time_ns = wait.begin});
        row != InnermostCalls::none) {
      const stacks::CallTable& calls = innermost->calls();
      const WaitCause cause =
          cause_of(waits, wait, measurement.functions[calls.function[row]].name);
      placed.reason = cause.reason;
      placed.likely = cause.likely;
      add_call(measurement, calls, row, placed);
    }
  }
  return placed;
}

} // namespace ptlens::measure
