#include "cli/selection_options.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace ptlens::cli {
namespace {

// Returns a check that refuses what `parse` refuses. CLI11 puts the option's name before the text.
template <class Parse>
auto parsed_by(const Parse& parse) {
  return [parse](const std::string& text) {
    const auto parsed = parse(text);
    return parsed ? std::string() : parsed.error().one_line();
  };
}

} // namespace

void add_selection(CLI::App& command, measure::SelectionText& text, bool any_state) {
  const auto several = [&command](const char* name, std::vector<std::string>& values,
                                  const char* form, const char* description, const auto& parse) {
    command.add_option(name, values, description)
        ->type_name(form)
        ->allow_extra_args(false)
        ->check(parsed_by(parse));
  };
  command
      .add_option("--time", text.time,
                  "only calls that start in [A,B] after the start of the trace (seconds, or with a "
                  "unit)")
      ->type_name("A,B")
      ->check(parsed_by(measure::parse_time));
  command
      .add_option("--latency", text.latency,
                  "only calls with A <= latency < B (ns, or with a unit); either may be left out")
      ->type_name("A,B")
      ->check(parsed_by(measure::parse_half_open));
  several("--tid", text.tids, "T", "only calls of this thread; repeatable", measure::parse_tid);
  several("--not-tid", text.not_tids, "T", "no calls of this thread; repeatable",
          measure::parse_tid);
  several("--caller", text.callers, "G[@FILE:LINE]",
          "only calls made by G, from that line; repeatable: by one of them",
          measure::parse_caller);
  several("--not-caller", text.not_callers, "G[@FILE:LINE]",
          "no calls made by G, from that line; repeatable", measure::parse_caller);
  several("--ancestor", text.ancestors, "G[,min,max]",
          "only calls inside a call of G, at any depth, with min <= latency < max; repeatable",
          measure::parse_ancestor);
  several("--calls", text.calls, "G[,min,max]",
          "only calls that themselves called G, at least min and at most max times; repeatable",
          measure::parse_calls);
  several("--waited", text.waited, "REASON[,min]",
          "only calls that were off-CPU for that reason, for at least min: blocked, preempted, or "
          "what `ptlens waits` names (lock, sleep, disk, network, pipe, poll, page_fault, process, "
          "signal, unknown); repeatable",
          measure::parse_waited);
  command
      .add_option("--state", text.states,
                  any_state ? "only calls in these states: complete, incomplete, unwound; default: "
                              "all"
                            : "calls in these states: complete, incomplete, unwound; default: "
                              "complete")
      ->type_name("STATE,...")
      ->check(parsed_by(measure::parse_states));
  command.add_flag("--complement", text.complement,
                   "the other calls: those in these states that the other options do not select");
}

} // namespace ptlens::cli
