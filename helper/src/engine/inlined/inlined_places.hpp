// The places where functions with one name were inlined, in all binaries of a recording. Their
// executions are counted while the trace is decoded.
//
// While the trace is decoded, inlined functions and the call sites that they replaced are numbered
// from `first_number` on. Afterwards their numbers follow those of the called functions and sites.
#pragma once

#include "engine/recording/loaded_recording.hpp"
#include "measure/report/inlined.hpp"
#include "stacks/threads/inlined_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"
#include "symbols/address_space.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ptlens::engine {

class InlinedPlaces {
public:
  // Finds the places of the functions that match `name` by the rules of symbols::Binary::find.
  // `binary`: a path or the end of a path, empty for any. Reads the debug information of all
  // binaries of the recording.
  InlinedPlaces(const LoadedRecording& loaded, const std::string& name, const std::string& binary);

  [[nodiscard]] bool empty() const { return counted_.places().empty(); }
  [[nodiscard]] stacks::CountedPlaces& counted() { return counted_; }

  // Removes executions that cannot be counted from the table, and gives functions and sites their
  // final numbers in it and in the symbolizer. Must be called after the last branch.
  void finish(stacks::CallTable& calls, stacks::Symbolizer& symbolizer);
  // Returns everything but the measurement, after finish().
  [[nodiscard]] measure::InlinedMeasurement take() { return std::move(result_); }

private:
  struct Holder { // the function that contains a place
    const symbols::MappedCode* code = nullptr;
    std::optional<std::uint32_t> function; // index in the binary
  };

  void add(const symbols::MappedCode& code, const std::string& name);
  [[nodiscard]] std::uint32_t function_of(const std::string& path,
                                          const symbols::InlinedInstance& place);

  std::map<std::tuple<std::string, std::string, std::string, std::string, std::uint32_t>,
           std::uint32_t>
      numbers_; // indices into functions_
  std::vector<stacks::FunctionInfo> functions_;
  std::vector<stacks::CallSite> sites_; // by place
  std::vector<Holder> holders_;         // by place
  std::vector<stacks::CountedPlace> places_;
  stacks::CountedPlaces counted_;
  measure::InlinedMeasurement result_;
};

} // namespace ptlens::engine
