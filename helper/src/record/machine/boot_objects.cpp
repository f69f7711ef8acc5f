#include "record/machine/boot_objects.hpp"

namespace ptlens::record {

using nlohmann::json;

json new_object_of_boot(const BootedKernel& kernel, std::uint64_t version) {
  return {{"version", version}, {"boot_id", kernel.boot_id}, {"kernel", kernel.release}};
}

json object_of_boot(std::string_view text, const BootedKernel& kernel, std::uint64_t version) {
  constexpr int deepest = 4;
  json object = json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth <= deepest; }, false);
  const bool is_of_boot = object.is_object() && !kernel.boot_id.empty() &&
                          object.value("version", json()) == json(version) &&
                          object.value("boot_id", json()) == json(kernel.boot_id) &&
                          object.value("kernel", json()) == json(kernel.release);
  return is_of_boot ? object : json();
}

} // namespace ptlens::record
