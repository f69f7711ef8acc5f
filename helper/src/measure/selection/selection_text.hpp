// The text form of a selection: the options of the command line.
#pragma once

#include "base/error.hpp"
#include "measure/selection/selection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptlens::measure {

// The values of the options as typed; empty: not given.
struct SelectionText {
  std::string time;                  // --time A,B
  std::string latency;               // --latency A,B
  std::vector<std::string> tids;     // --tid T
  std::vector<std::string> not_tids; // --not-tid T
  std::vector<std::string> callers;  // --caller G[@FILE:LINE]
  std::vector<std::string> not_callers;
  std::vector<std::string> ancestors; // --ancestor G[,min,max]
  std::vector<std::string> calls;     // --calls G[,min,max]
  std::vector<std::string> waited;    // --waited REASON[,min]
  std::string states;                 // --state STATE[,STATE]
  bool complement = false;            // --complement
};

// Parses the text form. Errors: bad_input, with the option and the remedy.
[[nodiscard]] Result<Selection> parse_selection(const SelectionText& text);

// Returns the command line's options for the selection, each followed by its value, such as
// "--latency", "5ms,". Parsed again, they are the same selection.
[[nodiscard]] std::vector<std::string> selection_options(const Selection& selection);

// Parse a part alone. Errors: bad_input.
[[nodiscard]] Result<Interval> parse_time(std::string_view text); // a bare number is in seconds
[[nodiscard]] Result<std::int32_t> parse_tid(std::string_view text);
[[nodiscard]] Result<CallerCondition> parse_caller(std::string_view text);
[[nodiscard]] Result<AncestorCondition> parse_ancestor(std::string_view text);
[[nodiscard]] Result<CallsCondition> parse_calls(std::string_view text);
[[nodiscard]] Result<WaitCondition> parse_waited(std::string_view text);
[[nodiscard]] Result<stacks::CallStates> parse_states(std::string_view text);

// Returns "complete,unwound".
[[nodiscard]] std::string states_text(stacks::CallStates states);

} // namespace ptlens::measure
