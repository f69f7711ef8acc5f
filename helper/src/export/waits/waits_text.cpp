#include "export/waits/waits_text.hpp"

#include "export/text/loss.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"
#include "export/waits/wait_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::exporting {
namespace {

using measure::WaitReport;
using measure::WaitRow;
using measure::WaitTotals;

constexpr std::size_t most_wait_rows = 20;
constexpr std::size_t most_wakers = 4;

std::string wait_time(std::uint64_t ns) {
  return duration(as_double(ns));
}

std::vector<std::string> totals_cells(const WaitTotals& totals, bool with_calls) {
  std::vector<std::string> made = {count(totals.intervals), wait_time(totals.total),
                                   wait_time(totals.p50), wait_time(totals.p99),
                                   wait_time(totals.max)};
  if (with_calls) {
    made.insert(made.begin() + 1, count(totals.calls));
  }
  return made;
}

std::string reasons_text(const WaitReport& report) {
  const bool with_calls = report.function.has_value();
  std::vector<Table::Column> columns = {"intervals", "total", "p50",
                                        "p99",       "max",   text_column("reason")};
  if (with_calls) {
    columns.insert(columns.begin() + 1, "calls");
  }
  Table table(columns);
  for (const auto& [reason, totals] : report.reasons) {
    std::vector<std::string> row = totals_cells(totals, with_calls);
    row.emplace_back(waits::word(reason));
    table.add(std::move(row));
  }
  return table.text(2);
}

std::string row_text(const WaitReport& report, const WaitRow& row) {
  std::string text =
      fmt::format("\n  {}{}", waits::word(row.reason), row.likely ? " (likely)" : "");
  if (row.lock != waits::LockKind::none) {
    text += fmt::format(", {}", awaited_text(row.reason, row.lock));
  }
  if (const std::string place = place_text(row.place); !place.empty()) {
    text += fmt::format(" in {}", place);
  }
  if (!row.called.empty()) {
    text += fmt::format(", by {}", printable(row.called));
  } else if (!row.kernel.empty() && row.reason == waits::Reason::unknown) {
    text += fmt::format(", in the kernel's {}", printable(row.kernel));
  }
  text +=
      fmt::format("\n      {}, {}: p50 {}, p99 {}, max {}\n", wait_time(row.totals.total),
                  report.function ? fmt::format("{} in {}", count(row.totals.intervals, "interval"),
                                                count(row.totals.calls, "call"))
                                  : count(row.totals.intervals, "interval"),
                  wait_time(row.totals.p50), wait_time(row.totals.p99), wait_time(row.totals.max));
  for (std::size_t at = 0; at < std::min(most_wakers, row.wakers.size()); ++at) {
    const measure::WakerRow& waker = row.wakers[at];
    text += fmt::format("      {}: {}, {}\n", waker_text(row, waker),
                        count(waker.intervals, "interval"), wait_time(waker.total));
  }
  if (row.wakers.size() > most_wakers) {
    text += fmt::format("      and {} more\n", row.wakers.size() - most_wakers);
  }
  return text;
}

} // namespace

std::string waits_text(const measure::Measurement& measurement, const WaitReport& report) {
  std::string text = loss_text(measurement);
  if (report.function) {
    text += fmt::format("{}\n\n", printable(measurement.functions[*report.function].name));
  }
  if (!measurement.recording.off_cpu_known) {
    return text + "The time off-CPU is not known: the recording has no context switches.\n";
  }
  if (!report.recorded) {
    text +=
        "The reasons of waits were not recorded. They are inferred from the functions that were "
        "called, and from who released a lock.\n\n";
  }
  if (report.totals.intervals == 0) {
    return text + (report.function
                       ? fmt::format("None of {} waited.\n", count(report.calls, "call"))
                       : std::string("No thread waited.\n"));
  }
  text += report.function
              ? fmt::format("{} of {} waited: {} off-CPU in {}\n\n", count(report.totals.calls),
                            count(report.calls, "call"), wait_time(report.totals.total),
                            count(report.totals.intervals, "interval"))
              : fmt::format("{} off-CPU in {}\n\n", wait_time(report.totals.total),
                            count(report.totals.intervals, "interval"));
  text += reasons_text(report);
  for (std::size_t at = 0; at < std::min(most_wait_rows, report.rows.size()); ++at) {
    text += row_text(report, report.rows[at]);
  }
  if (report.rows.size() > most_wait_rows) {
    text += fmt::format("\n  and {} more; --json shows all\n", report.rows.size() - most_wait_rows);
  }
  return text;
}

} // namespace ptlens::exporting
