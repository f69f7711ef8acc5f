#include "export/explain/explain_json.hpp"

#include "base/words.hpp"
#include "export/explain/sentence.hpp"
#include "export/json/json.hpp"
#include "export/text/units.hpp"
#include "export/waits/waits_json.hpp"

#include <nlohmann/json.hpp>

namespace ptlens::exporting {

namespace {

using measure::Part;
using measure::PartKind;

constexpr Word<PartKind> kind_words[] = {{PartKind::self, "self"},
                                         {PartKind::blocked, "blocked"},
                                         {PartKind::preempted, "preempted"},
                                         {PartKind::child, "child"},
                                         {PartKind::unknown, "unknown"}};

Json set_json(const measure::CallSet& set) {
  return {{"calls", set.calls}, {"mean", set.mean}, {"low", set.low}, {"high", set.high}};
}

Json example_json(const std::optional<measure::ExampleCall>& example) {
  return example ? Json{{"tid", example->tid}, {"start", example->start}} : Json(nullptr);
}

Json key_json(const measure::Measurement& measurement, const measure::PartKey& key) {
  const bool has_site = measurement.sites.has(key.site);
  return {{"kind", word_of(kind_words, key.kind)},
          {"function", measurement.functions.has(key.function)
                           ? Json(measurement.functions[key.function].name)
                           : Json(nullptr)},
          {"call_site",
           has_site ? Json(hexadecimal(measurement.sites[key.site].address)) : Json(nullptr)},
          {"file", has_site ? measurement.sites[key.site].file : ""},
          {"line", has_site ? measurement.sites[key.site].line : 0}};
}

Json part_json(const measure::Measurement& measurement, const Part& part) {
  Json json = key_json(measurement, part.key);
  json.update({{"slow_mean", part.slow_mean},
               {"typical_mean", part.typical_mean},
               {"delta", part.delta},
               {"share", part.share},
               {"count_part", part.count_part},
               {"cost_part", part.cost_part},
               {"slow_count", part.slow_count},
               {"typical_count", part.typical_count},
               {"slow_presence", part.slow_presence},
               {"typical_presence", part.typical_presence},
               {"example", example_json(part.example)}});
  return json;
}

} // namespace

Json explain_json(const measure::Measurement& measurement,
                  const measure::Explanation& explanation) {
  Json components = Json::array();
  for (const measure::Component& component : explanation.components) {
    Json json = part_json(measurement, component.part);
    json["share_low"] = component.share_low;
    json["share_high"] = component.share_high;
    json["wait"] = component.wait ? wait_row_json(*component.wait) : Json(nullptr);
    json["cause"] = cause_text(measurement, component);
    Json path = Json::array();
    for (const Part& part : component.path) {
      path.push_back(part_json(measurement, part));
    }
    json["path"] = std::move(path);
    components.push_back(std::move(json));
  }
  Json kinds = Json::array();
  for (const measure::SlowKind& kind : explanation.kinds) {
    kinds.push_back({{"calls", kind.calls},
                     {"predicate", predicate_text(measurement, kind.predicate)},
                     {"precision", kind.precision},
                     {"recall", kind.recall},
                     {"component", kind.component},
                     {"example", example_json(kind.example)}});
  }
  Json variance = Json::array();
  for (const measure::VariancePart& part : explanation.variance) {
    Json json = key_json(measurement, part.key);
    json["share"] = part.share;
    variance.push_back(std::move(json));
  }
  return {{"recording", recording_json(measurement)},
          {"function", function_json(measurement, explanation.function)},
          {"explain",
           {{"slow", set_json(explanation.slow)},
            {"typical", set_json(explanation.typical)},
            {"complete", explanation.complete},
            {"left_out", explanation.left_out},
            {"gap", explanation.gap},
            {"explained", explanation.explained},
            {"resolution_ns", explanation.uncertainty},
            {"few_slow_calls", explanation.few_slow_calls},
            {"gap_is_uncertain", explanation.gap_is_uncertain},
            {"components", std::move(components)},
            {"kinds", std::move(kinds)},
            {"variance", std::move(variance)},
            {"sentence", explain_sentence(measurement, explanation)},
            {"main_cause", main_cause(measurement, explanation)}}}};
}

} // namespace ptlens::exporting
