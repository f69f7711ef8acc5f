#include "record/waits/kernel_functions.hpp"

#include "base/checksum.hpp"
#include "record/machine/boot_objects.hpp"
#include "symbols/elf/kallsyms.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::record {
namespace {

using nlohmann::json;

constexpr std::uint64_t format_version = 1;

// The kernel prints the name of a module behind that of the function; these are no modules
// (kernel/kallsyms.c).
bool stays(std::string_view line) {
  return !line.ends_with("[bpf]") && line.find("[__builtin__") == std::string_view::npos;
}

} // namespace

KernelFunctions KernelFunctions::read(std::istream& kallsyms) {
  std::vector<Function> all;
  for (std::string text; std::getline(kallsyms, text);) {
    const auto line = symbols::read_kallsyms_line(text);
    if (line && line->address != 0 && std::string_view("tTwW").contains(line->type)) {
      all.push_back({.first = line->address,
                     .end = UINT64_MAX,
                     .name = std::string(line->name),
                     .stays = stays(text)});
    }
  }
  std::ranges::stable_sort(all, {}, &Function::first);
  KernelFunctions read;
  for (std::size_t index = 0; index < all.size(); ++index) {
    Function& function = all[index];
    const auto next = std::ranges::upper_bound(all.begin() + static_cast<std::ptrdiff_t>(index),
                                               all.end(), function.first, {}, &Function::first);
    if (next != all.end()) {
      function.end = next->first;
      function.stays = function.stays && next->stays;
    } else {
      function.stays = false; // what follows is not known
    }
    read.functions_.insert_or_assign(read.functions_.end(), function.first, std::move(function));
  }
  return read;
}

std::optional<KernelFunctions> KernelFunctions::parse(std::string_view text,
                                                      const BootedKernel& kernel,
                                                      std::string_view modules) {
  const json object = object_of_boot(text, kernel, format_version);
  if (object.is_null() || object.value("modules", json()) != json(checksum(modules))) {
    return std::nullopt;
  }
  KernelFunctions read;
  for (const json& row : object.value("functions", json::array())) {
    const bool is_row = row.is_array() && row.size() == 3 && row[0].is_number_unsigned() &&
                        row[1].is_number_unsigned() && row[2].is_string();
    if (!is_row) {
      return std::nullopt;
    }
    read.add({.first = row[0].get<std::uint64_t>(),
              .end = row[1].get<std::uint64_t>(),
              .name = row[2].get<std::string>()});
  }
  return read;
}

std::string KernelFunctions::text(const BootedKernel& kernel, std::string_view modules) const {
  json rows = json::array();
  for (const auto& [first, function] : functions_) {
    if (function.stays) {
      rows.push_back({first, function.end, function.name});
    }
  }
  json object = new_object_of_boot(kernel, format_version);
  object["modules"] = checksum(modules);
  object["functions"] = std::move(rows);
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

const KernelFunctions::Function* KernelFunctions::at(std::uint64_t address) const {
  const auto next = functions_.upper_bound(address);
  if (next == functions_.begin()) {
    return nullptr;
  }
  const Function& function = std::prev(next)->second;
  return address < function.end ? &function : nullptr;
}

} // namespace ptlens::record
