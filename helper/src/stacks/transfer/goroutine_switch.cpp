#include "stacks/transfer/goroutine_switch.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ptlens::stacks {

GoRole go_role(const symbols::Binary& binary, const symbols::Function& function) {
  using enum GoRole;
  static constexpr std::pair<std::string_view, GoRole> roles[] = {
      {"gogo", continues},
      {"runtime.gogo", continues},
      {"runtime.mcall", leaves},
      {"runtime.morestack", leaves},
      {"runtime.newstack", grows},
      {"runtime.recovery", recovers},
      {"runtime.goexit", is_outmost},
  };
  if (!binary.has_go_runtime()) {
    return none;
  }
  constexpr std::string_view assembly = ".abi0";
  std::string_view name = function.linkage_name.empty() ? function.name : function.linkage_name;
  if (name.ends_with(assembly)) {
    name.remove_suffix(assembly.size());
  }
  const auto* const found =
      std::ranges::find(roles, name, &std::pair<std::string_view, GoRole>::first);
  return found == std::end(roles) ? code : found->second;
}

} // namespace ptlens::stacks
