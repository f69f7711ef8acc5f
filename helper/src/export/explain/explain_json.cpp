#include "export/explain/explain_json.hpp"

#include "base/words.hpp"
#include "export/explain/sentence.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"
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

void add_example(JsonRows& rows, const std::optional<measure::ExampleCall>& example) {
  if (!example) {
    rows.field("example", nullptr);
    return;
  }
  rows.begin("example");
  rows.field("tid", example->tid);
  rows.field("start", example->start);
  rows.end();
}

void add_key(JsonRows& rows, const measure::Measurement& measurement, const measure::PartKey& key) {
  rows.field("kind", std::string_view(word_of(kind_words, key.kind)));
  if (measurement.functions.has(key.function)) {
    rows.field("function", std::string_view(measurement.functions[key.function].name));
  } else {
    rows.field("function", nullptr);
  }
  add_site(rows, measurement, key.site);
}

void add_part(JsonRows& rows, const measure::Measurement& measurement, const Part& part) {
  add_key(rows, measurement, part.key);
  rows.field("slow_mean", part.slow_mean);
  rows.field("typical_mean", part.typical_mean);
  rows.field("delta", part.delta);
  rows.field("share", part.share);
  rows.field("count_part", part.count_part);
  rows.field("cost_part", part.cost_part);
  rows.field("slow_count", part.slow_count);
  rows.field("typical_count", part.typical_count);
  rows.field("slow_presence", part.slow_presence);
  rows.field("typical_presence", part.typical_presence);
  add_example(rows, part.example);
}

Json components_json(const measure::Measurement& measurement,
                     const std::vector<measure::Component>& components) {
  JsonRows rows = JsonRows::list(components.size());
  for (const measure::Component& component : components) {
    rows.begin();
    add_part(rows, measurement, component.part);
    rows.field("share_low", component.share_low);
    rows.field("share_high", component.share_high);
    if (component.wait) {
      rows.tree("wait", wait_row_json(*component.wait));
    } else {
      rows.field("wait", nullptr);
    }
    rows.field("cause", std::string_view(cause_text(measurement, component)));
    rows.begin_list("path");
    for (const Part& part : component.path) {
      rows.begin();
      add_part(rows, measurement, part);
      rows.end();
    }
    rows.end_list();
    rows.end();
  }
  return rows.take();
}

Json kinds_json(const measure::Measurement& measurement,
                const std::vector<measure::SlowKind>& kinds) {
  JsonRows rows = JsonRows::list(kinds.size());
  for (const measure::SlowKind& kind : kinds) {
    rows.begin();
    rows.field("calls", kind.calls);
    rows.field("predicate", std::string_view(predicate_text(measurement, kind.predicate)));
    rows.field("precision", kind.precision);
    rows.field("recall", kind.recall);
    rows.field("component", kind.component);
    add_example(rows, kind.example);
    rows.end();
  }
  return rows.take();
}

Json variance_json(const measure::Measurement& measurement,
                   const std::vector<measure::VariancePart>& parts) {
  JsonRows rows = JsonRows::list(parts.size());
  for (const measure::VariancePart& part : parts) {
    rows.begin();
    add_key(rows, measurement, part.key);
    rows.field("share", part.share);
    rows.end();
  }
  return rows.take();
}

} // namespace

Json explain_json(const measure::Measurement& measurement,
                  const measure::Explanation& explanation) {
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
            {"components", components_json(measurement, explanation.components)},
            {"kinds", kinds_json(measurement, explanation.kinds)},
            {"variance", variance_json(measurement, explanation.variance)},
            {"sentence", explain_sentence(measurement, explanation)},
            {"main_cause", main_cause(measurement, explanation)}}}};
}

} // namespace ptlens::exporting
