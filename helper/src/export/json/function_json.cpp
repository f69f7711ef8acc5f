#include "export/json/function_json.hpp"

#include "export/text/units.hpp"
#include "measure/flame/flame.hpp"
#include "waits/reason.hpp"

#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace ptlens::exporting {

namespace {

// The fields that identify a function.
template <class Use>
void each_field(const stacks::FunctionInfo& info, const Use& use) {
  use("name", std::string_view(info.name));
  use("binary", std::string_view(info.binary));
  use("address", hexadecimal(info.address));
}

template <class Use>
void each_field(const measure::Measurement& measurement, stacks::FunctionId function,
                const Use& use) {
  if (measurement.functions.has(function)) {
    each_field(measurement.functions[function], use);
    return;
  }
  use("name", std::string_view("[unknown]"));
  use("binary", std::string_view());
  use("address", nullptr);
}

// {name, binary, address}
template <class... Function>
Json identified(const Function&... function) {
  Json json = Json::object();
  each_field(function..., [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

template <Id I, class Place> // with file and line
void add_place_in(JsonRows& rows, const IdVector<I, Place>& places, I id) {
  const bool has = places.has(id);
  rows.field("file", has ? std::string_view(places[id].file) : std::string_view());
  rows.field("line", std::uint64_t{has ? places[id].line : 0});
}

// Returns what represents time outside user code or a wait as a function, which is in no table and
// has no address.
Json unnamed_frame_json(const measure::Measurement& measurement, stacks::FunctionId function) {
  const auto info = measure::frame_function(measurement, function);
  Json json = {{"name", info.name},
               {"binary", info.binary},
               {"address", nullptr},
               {"file", ""},
               {"line", 0}};
  if (const auto cause = measure::waits_for(function)) {
    json["waits_for"] = waits::word(cause->reason);
    if (cause->likely) {
      json["likely"] = true;
    }
  }
  return json;
}

} // namespace

Json identity_json(const measure::Measurement& measurement, stacks::FunctionId function) {
  return identified(measurement, function);
}

Json function_json(const stacks::FunctionInfo& function) {
  Json json = identified(function);
  json["file"] = function.file;
  json["line"] = function.line;
  return json;
}

Json function_json(const measure::Measurement& measurement, stacks::FunctionId function) {
  if (measurement.functions.has(function)) {
    return function_json(measurement.functions[function]);
  }
  Json json = identified(measurement, function);
  json["file"] = "";
  json["line"] = 0;
  return json;
}

Json site_address_json(const measure::Measurement& measurement, stacks::SiteId site) {
  return measurement.sites.has(site) ? Json(hexadecimal(measurement.sites[site].address))
                                     : Json(nullptr);
}

void add_identity(JsonRows& rows, const measure::Measurement& measurement,
                  stacks::FunctionId function) {
  each_field(measurement, function,
             [&](const char* name, const auto& value) { rows.field(name, value); });
}

void add_place(JsonRows& rows, const measure::Measurement& measurement,
               stacks::FunctionId function) {
  add_place_in(rows, measurement.functions, function);
}

void add_site(JsonRows& rows, const measure::Measurement& measurement, stacks::SiteId site) {
  if (measurement.sites.has(site)) {
    rows.field("call_site", hexadecimal(measurement.sites[site].address));
  } else {
    rows.field("call_site", nullptr);
  }
  add_place_in(rows, measurement.sites, site);
}

std::int64_t FunctionTable::index(stacks::FunctionId function) {
  const bool outside =
      function == measure::outside_user_code || measure::waits_for(function).has_value();
  if (!outside && !measurement_.functions.has(function)) {
    return -1;
  }
  const auto [at, added] =
      numbers_.try_emplace(function, static_cast<std::int64_t>(numbers_.size()));
  if (added) {
    Json entry = outside ? unnamed_frame_json(measurement_, function)
                         : function_json(measurement_, function);
    if (!measurement_.self_known(function, true)) {
      entry["self_unknown"] = true;
    }
    list_.push_back(std::move(entry));
  }
  return at->second;
}

Json FunctionTable::take() {
  return std::move(list_);
}

} // namespace ptlens::exporting
