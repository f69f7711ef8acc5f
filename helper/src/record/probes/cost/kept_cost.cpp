#include "record/probes/cost/kept_cost.hpp"

#include "record/processes/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>

namespace ptlens::record {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint64_t cost_format = 5;
constexpr std::size_t largest_cost_file = 4096;
constexpr double least_cost_ns = -1e5; // a return probe can take less time than a breakpoint
constexpr double most_cost_ns = 1e7;

json to_json(const HitCost& cost) {
  return {{"latency_ns", cost.latency_ns},
          {"hit_ns", cost.hit_ns},
          {"uncertainty_ns", cost.uncertainty_ns},
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
         read_ns(*field, "frequent_ns", 0, cost.frequent_ns);
}

// A failure only means that the cost is measured again.
void keep_text(const std::string& file, const std::string& text) {
  std::error_code failed;
  fs::create_directories(fs::path(file).parent_path(), failed);
  const std::string temporary = fmt::format("{}.{}", file, ::getpid());
  {
    std::ofstream out(temporary, std::ios::trunc);
    out << text;
    out.flush();
    if (!out) {
      failed = std::make_error_code(std::errc::io_error);
    }
  }
  if (!failed) {
    fs::rename(temporary, file, failed);
  }
  if (failed) {
    fs::remove(temporary, failed);
  }
}

} // namespace

BootedKernel booted_kernel() {
  utsname system{};
  BootedKernel kernel;
  kernel.boot_id = read_text("/proc/sys/kernel/random/boot_id").value_or("");
  kernel.boot_id.resize(std::min(kernel.boot_id.find('\n'), kernel.boot_id.size()));
  kernel.release = ::uname(&system) == 0 ? system.release : "";
  return kernel;
}

std::string cost_file() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  constexpr const char* name = "ptlens/probe-cost.json";
  if (cache != nullptr && *cache == '/') {
    return (fs::path(cache) / name).string();
  }
  return home != nullptr && *home == '/' ? (fs::path(home) / ".cache" / name).string() : "";
}

std::string write_cost(const ProbeCost& cost, const BootedKernel& kernel) {
  const json object = {{"version", cost_format},           {"boot_id", kernel.boot_id},
                       {"kernel", kernel.release},         {"emulated", to_json(cost.emulated)},
                       {"stepped", to_json(cost.stepped)}, {"returned", to_json(cost.returned)},
                       {"wait_ns", cost.wait_ns}};
  return object.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<ProbeCost> parse_cost(std::string_view text, const BootedKernel& kernel) {
  constexpr int deepest = 4;
  const json object = json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth <= deepest; }, false);
  if (!object.is_object() || kernel.boot_id.empty() ||
      object.value("version", json()) != json(cost_format) ||
      object.value("boot_id", json()) != json(kernel.boot_id) ||
      object.value("kernel", json()) != json(kernel.release)) {
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
  const std::string file = cost_file();
  if (!file.empty()) {
    if (const auto kept = parse_cost(read_text(file, largest_cost_file).value_or(""), kernel)) {
      return *kept;
    }
  }
  auto cost = measure_probe_cost(machine);
  if (cost && !file.empty() && !kernel.boot_id.empty()) {
    keep_text(file, write_cost(*cost, kernel));
  }
  return cost;
}

} // namespace ptlens::record
