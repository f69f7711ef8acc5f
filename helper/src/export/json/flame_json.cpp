#include "export/json/flame_json.hpp"

#include "base/words.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ptlens::exporting {

namespace {

constexpr Word<measure::FlameTime> time_words[] = {{measure::FlameTime::wall, "wall"},
                                                   {measure::FlameTime::on_cpu, "on"},
                                                   {measure::FlameTime::off_cpu, "off"}};

} // namespace

Json flame_json(const measure::Measurement& measurement, const measure::FlameTree& tree,
                measure::FlameTime time) {
  FunctionTable table(measurement);
  Json parent = Json::array();
  Json function = Json::array();
  for (std::size_t node = 0; node < tree.size(); ++node) {
    parent.push_back(node == 0 ? -1 : static_cast<std::int64_t>(tree.parent[node]));
    function.push_back(table.index(tree.function[node]));
  }
  Json nodes = {{"parent", std::move(parent)},
                {"function", std::move(function)},
                {"inclusive", tree.inclusive},
                {"self", tree.self},
                {"calls", tree.calls}};
  if (measurement.is_corrected()) {
    nodes["uncertainty"] = tree.uncertainty;
  }
  if (std::ranges::any_of(tree.merged, [](std::uint64_t time) { return time > 0; })) {
    Json count = Json::array();
    for (const std::uint32_t merged : tree.merged_nodes) {
      count.push_back(
          merged == measure::FlameTree::not_counted ? -1 : static_cast<std::int64_t>(merged));
    }
    nodes["smaller"] = tree.merged;
    nodes["smaller_nodes"] = std::move(count);
  }
  return {{"recording", recording_json(measurement)},
          {"time", word_of(time_words, time)},
          {"functions", table.take()},
          {"nodes", std::move(nodes)}};
}

} // namespace ptlens::exporting
