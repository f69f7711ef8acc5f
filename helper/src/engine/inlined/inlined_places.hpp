// The places where functions of one name were inlined, in all binaries of a recording: what is
// counted while it is decoded, and what stands for it afterwards.
//
// Inlined functions and the calls that they replaced are numbered from `first_number` on while the
// trace is decoded, and behind the functions and sites that the decode found when it is done.
#pragma once

#include "engine/recording/loaded_recording.hpp"
#include "measure/report/inlined.hpp"
#include "stacks/threads/inlined_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"
#include "symbols/address_space.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ptlens::engine {

class InlinedPlaces {
public:
  // Of the functions that answer to `name` by the rules of symbols::Binary::find; `binary`: a path
  // or its end, empty for any. Reads the debug information of all binaries of the recording.
  InlinedPlaces(const LoadedRecording& loaded, const std::string& name, const std::string& binary);

  [[nodiscard]] bool empty() const { return counted_.places().empty(); }
  [[nodiscard]] stacks::CountedPlaces& counted() { return counted_; }

  // The decode is done: takes what cannot be counted out of the table, and gives functions and
  // sites their last numbers in it and in the symbolizer.
  void settle(stacks::CallTable& calls, stacks::Symbolizer& symbolizer);
  // After settle(): all but the measurement.
  [[nodiscard]] measure::InlinedMeasurement take() { return std::move(result_); }

private:
  struct Holder { // the function that a place is in
    const symbols::MappedCode* code = nullptr;
    std::uint32_t function = stacks::no_call; // index in the binary
  };

  void add(const symbols::MappedCode& code, const std::string& name);
  [[nodiscard]] std::uint32_t function_of(const std::string& path,
                                          const symbols::InlinedInstance& place);

  std::map<std::tuple<std::string, std::string, std::string, std::string, std::uint32_t>,
           std::uint32_t>
      numbers_; // of functions_
  std::vector<stacks::FunctionInfo> functions_;
  std::vector<stacks::CallSite> sites_; // one a place
  std::vector<Holder> holders_;         // one a place
  std::vector<stacks::CountedPlace> places_;
  stacks::CountedPlaces counted_;
  measure::InlinedMeasurement result_;
};

} // namespace ptlens::engine
