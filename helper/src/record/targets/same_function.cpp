#include "record/targets/same_function.hpp"

#include "base/distance.hpp"
#include "symbols/elf/build_id.hpp"
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <string_view>

namespace ptlens::record {
namespace {

using symbols::Binary;
using symbols::Function;

std::vector<std::uint32_t> with_linkage_name(const Binary& binary, std::string_view name) {
  std::vector<std::uint32_t> found;
  const auto functions = binary.functions();
  for (std::uint32_t index = 0; index < functions.size() && !name.empty(); ++index) {
    if (functions[index].linkage_name == name &&
        functions[index].kind != Function::Kind::plt_stub) {
      found.push_back(index);
    }
  }
  return found;
}

// Keeps the elements for which the predicate holds, where there are some.
template <class Holds>
void prefer(std::vector<std::uint32_t>& found, const Holds& holds) {
  if (std::ranges::any_of(found, holds)) {
    std::erase_if(found, [&](std::uint32_t index) { return !holds(index); });
  }
}

} // namespace

bool is_of_build(const WantedFunction& wanted, const Binary& binary) {
  return wanted.origin.build_id.empty() ||
         wanted.origin.build_id == symbols::build_id_text(binary.build_id());
}

std::vector<std::uint32_t> same_functions(const WantedFunction& wanted, const Binary& binary) {
  std::vector<std::uint32_t> found = with_linkage_name(binary, wanted.origin.linkage_name);
  if (found.empty()) {
    found = binary.find(wanted.name);
  }
  if (found.empty()) {
    found = binary.find(symbols::without_parameters(wanted.name));
  }
  const auto functions = binary.functions();
  if (found.size() < 2 || wanted.origin.file.empty()) {
    return found;
  }
  prefer(found, [&](std::uint32_t index) { return functions[index].file == wanted.origin.file; });
  std::uint32_t nearest = UINT32_MAX;
  for (const std::uint32_t index : found) {
    nearest = std::min(nearest, distance(functions[index].line, wanted.origin.line));
  }
  prefer(found, [&](std::uint32_t index) {
    return functions[index].file == wanted.origin.file &&
           distance(functions[index].line, wanted.origin.line) == nearest;
  });
  return found;
}

} // namespace ptlens::record
