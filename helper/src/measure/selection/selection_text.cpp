// Names of C++, Rust and Go may contain commas and at signs inside their brackets, which belong to
// the name.
#include "measure/selection/selection_text.hpp"

#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace ptlens::measure {

namespace {

constexpr std::array<std::string_view, 3> state_names = {"complete", "incomplete", "unwound"};

// Returns the position of the character after `from`, outside brackets and the names of operators;
// the size of the text where there is none.
std::size_t find_outside_names(std::string_view text, char character, std::size_t from = 0) {
  std::size_t at = from;
  while (at < text.size() && text[at] != character) {
    const bool opens = text[at] == '(' || text[at] == '<' || text[at] == '[' || text[at] == '{';
    const std::size_t operator_name = symbols::operator_end(text, at);
    at = operator_name != at ? operator_name : opens ? symbols::group_end(text, at) : at + 1;
  }
  return std::min(at, text.size());
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

// Returns the position of the at sign before FILE:LINE; the size of the text where there is none.
// An address (@0x401136) belongs to the function.
std::size_t place_at(std::string_view text) {
  std::size_t at = find_outside_names(text, '@');
  constexpr std::string_view address = "@0x";
  if (text.substr(at).starts_with(address)) {
    const std::size_t end = text.find_first_not_of("0123456789abcdefABCDEF", at + address.size());
    if (end == std::string_view::npos || text[end] == '@') {
      at = std::min(end, text.size());
    }
  }
  return at;
}

std::string caller_text(const CallerCondition& caller) {
  std::string text = caller.function;
  if (!caller.file.empty()) {
    text += '@' + caller.file;
    const std::size_t colon = caller.file.rfind(':');
    const bool looks_like_line =
        colon != std::string::npos && parse_number<std::uint32_t>(caller.file.substr(colon + 1));
    if (caller.line != 0 || looks_like_line) {
      text += fmt::format(":{}", caller.line);
    }
  }
  return text;
}

// Parses the values of the options, until one is refused.
class Parser {
public:
  template <class Value, class Parse>
  void one(std::string_view option, const std::string& text, Value& into, const Parse& parse) {
    if (text.empty() || error_) {
      return;
    }
    auto parsed = parse(text);
    if (parsed) {
      into = std::move(*parsed);
    } else {
      refuse(option, std::move(parsed.error()));
    }
  }

  template <class Value, class Parse>
  void each(std::string_view option, const std::vector<std::string>& texts,
            std::vector<Value>& into, const Parse& parse, std::size_t most = most_conditions) {
    for (const std::string& text : texts) {
      if (into.size() == most && !error_) {
        refuse(option, {.kind = Error::Kind::bad_input,
                        .message = fmt::format("given more than {} times", most),
                        .remedy = "leave some of them out"});
      }
      if (error_) {
        return;
      }
      auto parsed = parse(text);
      if (parsed) {
        into.push_back(std::move(*parsed));
      } else {
        refuse(option, std::move(parsed.error()));
      }
    }
  }

  [[nodiscard]] Result<Selection> result(Selection selection) {
    return error_ ? Result<Selection>(std::unexpected(std::move(*error_))) : std::move(selection);
  }

private:
  void refuse(std::string_view option, Error error) {
    error.message = fmt::format("{}: {}", option, error.message);
    error_ = std::move(error);
  }

  std::optional<Error> error_;
};

} // namespace

std::string states_text(stacks::CallStates states) {
  std::vector<std::string_view> names;
  for (const stacks::CallState state : stacks::every_state) {
    if (states.has(state)) {
      names.push_back(state_names.at(static_cast<std::size_t>(state)));
    }
  }
  return fmt::format("{}", fmt::join(names, ","));
}

Result<Interval> parse_time(std::string_view text) {
  return parse_interval(text, second_ns);
}

Result<std::int32_t> parse_tid(std::string_view text) {
  const auto number = parse_number<std::int32_t>(text);
  return number && *number > 0 ? Result<std::int32_t>(*number)
                               : std::unexpected(bad_text("not the number of a thread", text,
                                                          "write a whole number above 0"));
}

Result<CallerCondition> parse_caller(std::string_view text) {
  constexpr std::string_view remedy = "write it as FUNCTION, FUNCTION@FILE or FUNCTION@FILE:LINE";
  const std::size_t at = place_at(text);
  CallerCondition caller{.function = std::string(text.substr(0, at)), .file = {}};
  if (caller.function.empty()) {
    return std::unexpected(bad_text("the function's name is missing", text, remedy));
  }
  if (at == text.size()) {
    return caller;
  }
  std::string_view place = text.substr(at + 1);
  if (const std::size_t colon = place.rfind(':'); colon != std::string_view::npos) {
    if (const auto line = parse_number<std::uint32_t>(place.substr(colon + 1))) {
      caller.line = *line;
      place = place.substr(0, colon);
    }
  }
  if (place.empty()) {
    return std::unexpected(bad_text("the file is missing", text, remedy));
  }
  caller.file = place;
  return caller;
}

Result<AncestorCondition> parse_ancestor(std::string_view text) {
  const std::size_t comma = find_outside_names(text, ',');
  AncestorCondition ancestor{.function = std::string(text.substr(0, comma)), .latency = {}};
  if (ancestor.function.empty()) {
    return std::unexpected(bad_text("the function's name is missing", text,
                                    "write it as FUNCTION or FUNCTION,MIN,MAX"));
  }
  if (comma < text.size()) {
    const auto latency = parse_duration_bounds(text.substr(comma + 1));
    if (!latency) {
      return std::unexpected(latency.error());
    }
    ancestor.latency = *latency;
  }
  return ancestor;
}

Result<CallsCondition> parse_calls(std::string_view text) {
  const std::size_t comma = find_outside_names(text, ',');
  CallsCondition called{.function = std::string(text.substr(0, comma))};
  if (called.function.empty()) {
    return std::unexpected(bad_text("the function's name is missing", text,
                                    "write it as FUNCTION or FUNCTION,MIN,MAX"));
  }
  if (comma < text.size()) {
    const auto count = parse_count_bounds(text.substr(comma + 1));
    if (!count) {
      return std::unexpected(count.error());
    }
    called.count = *count;
  }
  return called;
}

Result<WaitCondition> parse_waited(std::string_view text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto reason = asked_reason(text.substr(0, comma));
  if (!reason) {
    return std::unexpected(
        bad_text("not a reason to wait", text,
                 fmt::format("write one of {}, with a least time if you like: {},1ms",
                             asked_reason_names(), name_of(blocked))));
  }
  WaitCondition condition{.reason = *reason};
  if (comma < text.size()) {
    const auto least = parse_duration(text.substr(comma + 1));
    if (!least) {
      return std::unexpected(least.error());
    }
    condition.least = *least;
  }
  return condition;
}

Result<stacks::CallStates> parse_states(std::string_view text) {
  stacks::CallStates states;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto at = std::ranges::find(state_names, text.substr(begin, end - begin));
    if (at == state_names.end()) {
      return std::unexpected(
          bad_text("not a state of calls", text,
                   fmt::format("write some of {}, with commas", fmt::join(state_names, ", "))));
    }
    states.add(static_cast<stacks::CallState>(at - state_names.begin()));
    begin = end + 1;
  }
  return states;
}

Result<Selection> parse_selection(const SelectionText& text) {
  Selection selection;
  Parser parser;
  parser.one("--time", text.time, selection.time, parse_time);
  parser.one("--latency", text.latency, selection.latency,
             [](std::string_view value) { return parse_half_open(value); });
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  parser.each("--tid", text.tids, selection.tids, parse_tid, no_limit);
  parser.each("--not-tid", text.not_tids, selection.not_tids, parse_tid, no_limit);
  parser.each("--caller", text.callers, selection.callers, parse_caller);
  std::vector<CallerCondition> excluded;
  parser.each("--not-caller", text.not_callers, excluded, parse_caller);
  for (CallerCondition& caller : excluded) {
    caller.negated = true;
    selection.callers.push_back(std::move(caller));
  }
  parser.each("--ancestor", text.ancestors, selection.ancestors, parse_ancestor, most_ancestors);
  parser.each("--calls", text.calls, selection.calls, parse_calls);
  parser.each("--waited", text.waited, selection.waited, parse_waited);
  parser.one("--state", text.states, selection.states, parse_states);
  selection.complement = text.complement;
  return parser.result(std::move(selection));
}

std::vector<std::string> selection_options(const Selection& selection) {
  std::vector<std::string> options;
  const auto add = [&options](const char* option, std::string value) {
    options.emplace_back(option);
    options.push_back(std::move(value));
  };
  if (selection.time.has_bounds()) {
    add("--time", interval_text(selection.time));
  }
  if (selection.latency.has_bounds()) {
    add("--latency", half_open_text(selection.latency));
  }
  for (const std::int32_t tid : selection.tids) {
    add("--tid", std::to_string(tid));
  }
  for (const std::int32_t tid : selection.not_tids) {
    add("--not-tid", std::to_string(tid));
  }
  for (const CallerCondition& caller : selection.callers) {
    add(caller.negated ? "--not-caller" : "--caller", caller_text(caller));
  }
  for (const AncestorCondition& ancestor : selection.ancestors) {
    const bool bounded = ancestor.latency.has_bounds();
    add("--ancestor",
        bounded ? fmt::format("{},{}", ancestor.function, half_open_text(ancestor.latency))
                : ancestor.function);
  }
  for (const CallsCondition& called : selection.calls) {
    const bool counted = called.count != CallsCondition{}.count;
    add("--calls", counted ? fmt::format("{},{}", called.function, count_bounds_text(called.count))
                           : called.function);
  }
  for (const WaitCondition& waited : selection.waited) {
    const bool timed = waited.least != WaitCondition{}.least;
    add("--waited", timed
                        ? fmt::format("{},{}", name_of(waited.reason), duration_text(waited.least))
                        : std::string(name_of(waited.reason)));
  }
  if (!selection.states.empty()) {
    add("--state", states_text(selection.states));
  }
  if (selection.complement) {
    options.emplace_back("--complement");
  }
  return options;
}

} // namespace ptlens::measure
