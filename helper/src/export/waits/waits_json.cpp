#include "export/waits/waits_json.hpp"

#include "base/words.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/waits/wait_words.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace ptlens::exporting {
namespace {

using measure::WaitRow;
using measure::WaitTotals;
using waits::Waker;

Json totals_json(const WaitTotals& totals) {
  return {{"intervals", totals.intervals},
          {"calls", totals.calls},
          {"total", totals.total},
          {"p50", totals.p50},
          {"p99", totals.p99},
          {"max", totals.max}};
}

constexpr Word<Waker::Kind> waker_words[] = {{Waker::Kind::unknown, "unknown"},
                                             {Waker::Kind::thread, "thread"},
                                             {Waker::Kind::interrupt, "interrupt"},
                                             {Waker::Kind::outside, "outside"}};

} // namespace

Json waker_json(const measure::WakerRow& waker) {
  return {{"kind", word_of(waker_words, waker.kind)},
          {"interrupt", waker.kind == Waker::Kind::interrupt
                            ? std::string(waits::word(waker.interrupt))
                            : std::string()},
          {"likely", waker.likely},
          {"thread", waker.thread},
          {"tid", waker.tid},
          {"process", waker.process},
          {"pid", waker.pid},
          {"processes", waker.processes},
          {"function", waker.place.function},
          {"binary", waker.place.binary},
          {"file", waker.place.file},
          {"line", waker.place.line},
          {"called", waker.called}};
}

Json wait_row_json(const WaitRow& row) {
  Json json = totals_json(row.totals);
  json.update({{"reason", waits::word(row.reason)},
               {"likely", row.likely},
               {"lock", waits::word(row.lock)},
               {"function", row.place.function},
               {"binary", row.place.binary},
               {"file", row.place.file},
               {"line", row.place.line},
               {"called", row.called},
               {"kernel", row.kernel}});
  Json wakers = Json::array();
  for (const measure::WakerRow& waker : row.wakers) {
    Json each = waker_json(waker);
    each["intervals"] = waker.intervals;
    each["total"] = waker.total;
    each["text"] = waker_text(row, waker);
    wakers.push_back(std::move(each));
  }
  json["wakers"] = std::move(wakers);
  return json;
}

Json waits_json(const measure::Measurement& measurement, const measure::WaitReport& report) {
  Json reasons = Json::array();
  for (const auto& [reason, totals] : report.reasons) {
    Json json = totals_json(totals);
    json["reason"] = waits::word(reason);
    reasons.push_back(std::move(json));
  }
  Json rows = Json::array();
  for (const WaitRow& row : report.rows) {
    rows.push_back(wait_row_json(row));
  }
  Json waits = totals_json(report.totals);
  waits["waiting_calls"] = report.totals.calls;
  waits["calls"] = report.calls;
  waits["recorded"] = report.recorded;
  waits["off_cpu_known"] = measurement.recording.off_cpu_known;
  waits["reasons"] = std::move(reasons);
  waits["rows"] = std::move(rows);
  return {
      {"recording", recording_json(measurement)},
      {"function", report.function ? function_json(measurement, *report.function) : Json(nullptr)},
      {"waits", std::move(waits)}};
}

} // namespace ptlens::exporting
