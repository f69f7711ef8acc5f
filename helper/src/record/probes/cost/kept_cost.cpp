#include "record/probes/cost/kept_cost.hpp"

#include "base/user_cache.hpp"
#include "record/machine/boot_objects.hpp"
#include "record/processes/files.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace ptlens::record {
namespace {

using nlohmann::json;

constexpr std::uint64_t cost_format = 9;
constexpr std::size_t largest_cost_file = 4096;
constexpr double least_cost_ns = -1e5; // a return probe can take less time than a breakpoint
constexpr double most_cost_ns = 1e7;

json to_json(const HitCost& cost) {
  return {{"latency_ns", cost.latency_ns},
          {"hit_ns", cost.hit_ns},
          {"uncertainty_ns", cost.uncertainty_ns},
          {"late_ns", cost.late_ns},
          {"frequent_ns", cost.frequent_ns}};
}

bool read_ns(const json& object, const char* name, double least, double& value) {
  const auto field = object.find(name);
  if (field == object.end() || !field->is_number()) {
    return false;
  }
  value = field->get<double>();
  return std::isfinite(value) && value >= least && value <= most_cost_ns;
}

bool read_hit_cost(const json& object, const char* name, double least, HitCost& cost) {
  const auto field = object.find(name);
  return field != object.end() && field->is_object() &&
         read_ns(*field, "latency_ns", least, cost.latency_ns) &&
         read_ns(*field, "hit_ns", 0, cost.hit_ns) &&
         read_ns(*field, "uncertainty_ns", 0, cost.uncertainty_ns) &&
         read_ns(*field, "late_ns", 0, cost.late_ns) &&
         read_ns(*field, "frequent_ns", 0, cost.frequent_ns);
}

} // namespace

std::string write_cost(const ProbeCost& cost, const BootedKernel& kernel) {
  json object = new_object_of_boot(kernel, cost_format);
  object["emulated"] = to_json(cost.emulated);
  object["stepped"] = to_json(cost.stepped);
  object["returned"] = to_json(cost.returned);
  object["wait_ns"] = cost.wait_ns;
  return object.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<ProbeCost> parse_cost(std::string_view text, const BootedKernel& kernel) {
  const json object = object_of_boot(text, kernel, cost_format);
  if (object.is_null()) {
    return std::nullopt;
  }
  ProbeCost cost;
  const bool complete = read_hit_cost(object, "emulated", 0, cost.emulated) &&
                        read_hit_cost(object, "stepped", 0, cost.stepped) &&
                        read_hit_cost(object, "returned", least_cost_ns, cost.returned) &&
                        read_ns(object, "wait_ns", 0, cost.wait_ns);
  return complete ? std::optional(cost) : std::nullopt;
}

Result<ProbeCost> known_probe_cost(const Machine& machine) {
  const BootedKernel kernel = booted_kernel();
  const std::string file = file_of_boot("probe-cost.json");
  if (!file.empty()) {
    if (const auto kept = parse_cost(read_text(file, largest_cost_file).value_or(""), kernel)) {
      return *kept;
    }
  }
  auto cost = measure_probe_cost(machine);
  if (cost && !file.empty() && !kernel.boot_id.empty()) {
    keep_in_cache(file, write_cost(*cost, kernel));
  }
  return cost;
}

} // namespace ptlens::record
