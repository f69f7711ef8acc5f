#include "export/text/tail_calls.hpp"

#include "export/text/table.hpp"
#include "export/text/units.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace ptlens::exporting {

namespace {

std::string name_text(const measure::Measurement& measurement, stacks::FunctionId function) {
  return measurement.functions.has(function)
             ? printable(symbols::last_component(measurement.functions[function].name))
             : std::string("[unknown]");
}

} // namespace

std::string tail_call_text(const measure::Measurement& measurement,
                           const measure::LineCallee& callee) {
  constexpr std::size_t most_names = 2;
  if (!callee.tail_call && callee.tail_callees.empty()) {
    return {};
  }
  std::string text = callee.tail_call ? "→ " : "";
  text += name_text(measurement, callee.function);
  const std::size_t shown = std::min(most_names, callee.tail_callees.size());
  for (std::size_t at = 0; at < shown; ++at) {
    text += (at == 0 ? " → " : ", ") + name_text(measurement, callee.tail_callees[at]);
  }
  if (callee.tail_callees.size() > shown) {
    text += fmt::format(" and {} more", callee.tail_callees.size() - shown);
  }
  return text + " (tail call)";
}

} // namespace ptlens::exporting
