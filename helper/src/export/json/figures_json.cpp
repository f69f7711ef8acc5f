// The same fields as a tree and as text.
#include "export/json/figures_json.hpp"

#include "export/text/units.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ptlens::exporting {

namespace {

// Calls `use` with the name and the value of each field.
template <class Use>
void each_field(const measure::LatencyStats& stats, const Use& use) {
  use("mean", stats.mean);
  use("stddev", stats.stddev);
  use("min", stats.min);
  use("max", stats.max);
  use("p50", stats.p50);
  use("p90", stats.p90);
  use("p99", stats.p99);
  use("p999", stats.p999);
  use("total", stats.total);
  use("resolution", stats.uncertainty);
}

template <class Use>
void each_field(const measure::OffCpuStats& stats, const Use& use) {
  use("mean", stats.mean);
  use("total", stats.total);
  use("calls", stats.calls);
  use("switches", stats.switches);
  use("blocked", stats.blocked);
  use("preempted", stats.preempted);
}

// Calls `use` with the name, the value and the uncertainty of each figure.
template <class Use>
void each_error(const measure::LatencyStats& stats, const Use& use) {
  use("mean", stats.mean, stats.within.mean);
  use("min", as_double(stats.min), as_double(stats.within.min));
  use("max", as_double(stats.max), as_double(stats.within.max));
  use("p50", as_double(stats.p50), as_double(stats.within.p50));
  use("p90", as_double(stats.p90), as_double(stats.within.p90));
  use("p99", as_double(stats.p99), as_double(stats.within.p99));
  use("p999", as_double(stats.p999), as_double(stats.within.p999));
  use("total", as_double(stats.total), stats.within.total);
}

template <class Use>
void each_error(const measure::OffCpuStats& /*stats*/, const Use& /*use*/) {}

// Adds `uncertainty`, and `below_resolution` where there are such figures, of those that `wanted`
// accepts. `Object` has begin(name), field(name, number) and end().
template <class Object, class Stats, class Wanted>
void add_errors(Object& object, const Stats& stats, const Wanted& wanted) {
  bool any = false;
  bool any_below = false;
  each_error(stats, [&](const char* name, double figure, double within) {
    any = any || (wanted(name) && within > 0);
    any_below = any_below || (wanted(name) && measure::is_below_resolution(figure, within));
  });
  if (!any) {
    return;
  }
  object.begin("uncertainty");
  each_error(stats, [&](const char* name, double /*figure*/, double within) {
    if (wanted(name)) {
      object.field(name, within);
    }
  });
  object.end();
  if (any_below) {
    object.begin("below_resolution");
    each_error(stats, [&](const char* name, double figure, double within) {
      if (wanted(name) && measure::is_below_resolution(figure, within)) {
        object.field(name, figure + within);
      }
    });
    object.end();
  }
}

// Fills an object with objects, one level deep.
class ObjectWriter {
public:
  explicit ObjectWriter(Json& json) : json_(json) {}
  void begin(const char* name) { part_ = &(json_[name] = Json::object()); }
  void field(const char* name, double value) { (*part_)[name] = value; }
  void end() { part_ = nullptr; }

private:
  Json& json_;
  Json* part_ = nullptr;
};

bool has_errors(const measure::LatencyStats& stats) {
  return stats.corrected;
}
bool has_errors(const measure::OffCpuStats& /*stats*/) {
  return false;
}

constexpr auto all_figures = [](std::string_view) { return true; };

template <class Stats>
Json object_of(const Stats& stats) {
  Json json = Json::object();
  each_field(stats, [&](const char* name, auto value) { json[name] = value; });
  if (has_errors(stats)) {
    ObjectWriter writer(json);
    add_errors(writer, stats, all_figures);
  }
  return json;
}

template <class Stats>
void add(JsonRows& rows, const char* name, const Stats& stats) {
  rows.begin(name);
  each_field(stats, [&](const char* field, auto value) { rows.field(field, value); });
  if (has_errors(stats)) {
    add_errors(rows, stats, all_figures);
  }
  rows.end();
}

} // namespace

Json latency_json(const measure::LatencyStats& stats) {
  return object_of(stats);
}

Json off_cpu_json(const measure::OffCpuStats& stats) {
  return object_of(stats);
}

void add_figures(JsonRows& rows, const char* name, const measure::LatencyStats& stats) {
  add(rows, name, stats);
}

void add_figures(JsonRows& rows, const char* name, const measure::OffCpuStats& stats) {
  add(rows, name, stats);
}

void add_uncertainty(Json& json, const measure::LatencyStats& stats,
                     std::initializer_list<std::string_view> figures) {
  ObjectWriter writer(json);
  add_errors(writer, stats, [&](std::string_view name) {
    return std::ranges::find(figures, name) != figures.end();
  });
}

} // namespace ptlens::exporting
