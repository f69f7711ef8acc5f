// The report comes from the measurement of calls, of inlined code, or of both.
#include "engine/inlined/inlined_report.hpp"

#include "measure/names/find_function.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"

namespace ptlens::engine {

Result<FunctionReport> report(const measure::Measurement& measurement, stacks::FunctionId function,
                              const measure::Selection& selection,
                              const MeasureInlined& measure_inlined) {
  FunctionReport result{.report = measure::report(measurement, function, selection)};
  const stacks::FunctionInfo& info = measurement.functions[function];
  if (!measure_inlined) {
    return result;
  }
  auto measured = measure_inlined(symbols::without_parameters(info.name), {});
  if (!measured) {
    return std::unexpected(std::move(measured.error()));
  }
  if (*measured == nullptr) {
    return result;
  }
  measure::InlinedPart part{
      .rows = measure::inlined_rows(**measured, measure::inlined_as(**measured, info), selection),
      .called = true,
      .filtered = (*measured)->filtered};
  if (!part.rows.empty()) {
    result.inlined = std::move(part);
    result.measured = std::move(*measured);
  }
  return result;
}

Result<FunctionReport> report(const measure::Measurement& measurement, const std::string& name,
                              const std::string& binary, const measure::Selection& selection,
                              const MeasureInlined& measure_inlined) {
  auto function = measure::find_function(measurement, name, binary);
  if (function) {
    return report(measurement, *function, selection, measure_inlined);
  }
  if (function.error().kind != Error::Kind::not_found || !measure_inlined) {
    return std::unexpected(std::move(function.error()));
  }
  auto measured = measure_inlined(name, binary);
  if (!measured) {
    return std::unexpected(std::move(measured.error()));
  }
  if (*measured == nullptr) {
    return std::unexpected(std::move(function.error()));
  }
  const auto inlined = measure::choose_inlined(**measured, name);
  if (!inlined) {
    const bool nowhere = inlined.error().kind == Error::Kind::not_found;
    return std::unexpected(nowhere ? function.error() : inlined.error());
  }
  FunctionReport result{.report = measure::report((*measured)->measurement, *inlined, selection),
                        .inlined = measure::InlinedPart{
                            .rows = measure::inlined_rows(**measured, {{*inlined}}, selection),
                            .called = false,
                            .filtered = (*measured)->filtered}};
  result.measured = std::move(*measured);
  return result;
}

} // namespace ptlens::engine
