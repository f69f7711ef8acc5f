// Groups waits by reason, place and waker.
#pragma once

#include "measure/measurement.hpp"
#include "measure/places/innermost_calls.hpp"
#include "measure/places/wait_places.hpp"
#include "measure/waits/likely_wakers.hpp"
#include "measure/waits/wait_report.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ptlens::measure {

// The part of a wait that counts.
struct WaitPart {
  const waits::Wait* wait = nullptr;
  std::uint64_t time = 0;
  std::uint32_t call = 0; // number of the call that contains it
};

class TotalsBuilder {
public:
  void add(const WaitPart& part);
  [[nodiscard]] WaitTotals finish();

private:
  std::vector<std::uint64_t> times_;
  std::set<std::uint32_t> calls_;
};

class WaitRows {
public:
  // The arguments must outlive the object.
  WaitRows(const Measurement& measurement, const waits::Waits& waits)
      : measurement_(measurement), waits_(waits), likely_(measurement) {}

  // Takes the calls that show the place of waits without a stack. They must outlive the object.
  void know_calls(const InnermostCalls& calls) { innermost_ = &calls; }

  void add(const WaitPart& part);
  // Fills in the totals, the reasons and the rows.
  void finish(WaitReport& report);

private:
  using RowKey =
      std::tuple<waits::Reason, bool, waits::LockKind, SourcePlace, std::string, std::string>;
  using WakerKey = std::tuple<waits::Waker::Kind, waits::Interrupt, bool, std::string, std::string,
                              SourcePlace, std::string>;
  struct Wakers {
    WakerRow row;
    std::set<std::int32_t> processes;
  };
  struct Group {
    TotalsBuilder totals;
    std::map<WakerKey, Wakers> wakers;
  };

  void add_waker(Group& group, const Placed& placed, const WaitPart& part);
  [[nodiscard]] WakerRow waker_of(const waits::Wait& wait, const Placed& placed);

  const Measurement& measurement_;
  const waits::Waits& waits_;
  LikelyWakers likely_;
  const InnermostCalls* innermost_ = nullptr;
  std::map<RowKey, Group> groups_;
  std::map<waits::Reason, TotalsBuilder> reasons_;
  TotalsBuilder all_;
};

} // namespace ptlens::measure
