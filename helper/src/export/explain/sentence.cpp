#include "export/explain/sentence.hpp"

#include "export/text/units.hpp"
#include "export/waits/wait_words.hpp"
#include "measure/statistics/statistics.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ptlens::exporting {

namespace {

using measure::Component;
using measure::Explanation;
using measure::Part;
using measure::PartKind;
using measure::Predicate;

constexpr std::size_t most_causes = 3;

// Returns "once", "3 times", "9.1 times" or "4,000 times".
std::string times(double number) {
  constexpr double tenth = 0.05;
  if (std::abs(number - 1) < tenth) {
    return "once";
  }
  constexpr double most_exact = 1000;
  const double whole = std::round(number);
  return std::abs(number - whole) < tenth || number >= most_exact
             ? count(static_cast<std::uint64_t>(whole), "time")
             : fmt::format("{:.1f} times", number);
}

bool is_call(const Part& part) {
  return part.key.kind == PartKind::child || part.key.kind == PartKind::unknown;
}

bool is_by_count(const Part& part) {
  constexpr double half = 0.5;
  return is_call(part) && part.count_part > half * part.delta;
}

std::string quoted(const measure::Measurement& measurement, const Part& part) {
  const std::string place = site_text(measurement, part.key.site);
  const std::string name = fmt::format("`{}`", short_name(measurement, part.key.function));
  return place.empty() ? name : fmt::format("{} ({})", name, place);
}

// Returns why a part that is called more often in slow calls costs more.
std::string count_text(const measure::Measurement& measurement, const Part& part) {
  if (part.typical_presence == 0) {
    return fmt::format("they call {}{}, which typical calls do not", quoted(measurement, part),
                       part.slow_count > 1.05 ? " " + times(part.slow_count) : std::string());
  }
  constexpr double same = 0.1;
  const double slow_cost = part.slow_mean / part.slow_count;
  const double typical_cost = part.typical_mean / part.typical_count;
  const std::string cost =
      std::abs(part.cost_part) < same * part.delta
          ? std::string("each time as fast as ever")
          : fmt::format("each time {} instead of {}", duration(slow_cost), duration(typical_cost));
  return fmt::format("{} ran {} instead of {}, {}", quoted(measurement, part),
                     times(part.slow_count), times(part.typical_count), cost);
}

// Returns "waiting for a lock in `restock` (order.cpp:88), held by thread `rebalance` in …".
std::string wait_text(const measure::WaitRow& wait, const std::string& where) {
  const std::string place = place_text(wait.place);
  std::string text =
      wait.reason == waits::Reason::preempted
          ? fmt::format("another thread has the processor during {}", where)
          : fmt::format("{}waiting for {} in {}", wait.likely ? "likely " : "",
                        awaited_text(wait.reason, wait.lock), place.empty() ? where : place);
  if (!wait.wakers.empty() && 2 * wait.wakers.front().total > wait.totals.total) {
    const std::string waker = waker_text(wait, wait.wakers.front());
    text += waker.empty() ? "" : ", " + waker;
  }
  return text;
}

// Returns where the time of a part goes that ends the path. `in`: the call that it is part of, or
// null for the explained function itself.
std::string end_text(const measure::Measurement& measurement, const Component& component,
                     const Part& end, const Part* in) {
  const std::string where = in == nullptr ? "its own code" : quoted(measurement, *in);
  if (component.wait) {
    return wait_text(*component.wait, where);
  }
  switch (end.key.kind) {
  case PartKind::self:
    return in == nullptr ? "its own instructions take longer"
                         : fmt::format("the instructions of {} take longer", where);
  case PartKind::blocked:
    return fmt::format("waiting in {}", where);
  case PartKind::preempted:
    return fmt::format("another thread has the processor during {}", where);
  case PartKind::unknown:
    return "code that is not known takes longer";
  case PartKind::child:
    return fmt::format("calls of {} take longer", quoted(measurement, end));
  }
  return "";
}

std::string percent_of(double share) {
  constexpr double hundred = 100;
  return fmt::format("{:.0f} %", hundred * share);
}

std::string typical_text(const Explanation& explanation) {
  const double mean = explanation.typical.mean;
  const double uncertainty = as_double(explanation.uncertainty);
  const std::string time = measure::is_below_resolution(mean, uncertainty)
                               ? fmt::format("less than {}", duration(mean + uncertainty))
                               : duration(mean);
  return explanation.typical_are_others ? fmt::format("The other calls take {} on average", time)
                                        : fmt::format("Typically {}", time);
}

std::string slow_text(const Explanation& explanation) {
  if (explanation.slowest_percent) {
    return fmt::format("The slowest 1 % ({}, {} on average)", count(explanation.slow.calls, "call"),
                       duration(explanation.slow.mean));
  }
  return fmt::format("The {} ({} on average)", count(explanation.slow.calls, "slow call"),
                     duration(explanation.slow.mean));
}

bool is_steady(const Explanation& explanation) {
  constexpr double steady = 1.5; // times the typical latency
  return explanation.slowest_percent && !explanation.typical_are_others &&
         as_double(explanation.slow.low) < steady * explanation.typical.mean;
}

double largest_share(const Explanation& explanation) {
  return explanation.components.empty() ? 0 : explanation.components.front().part.share;
}

// Returns the causes that the sentence names, each with its share; none where none is large.
std::vector<std::string> causes_of(const measure::Measurement& measurement,
                                   const Explanation& explanation) {
  constexpr double least_cause = 0.1;
  constexpr double single_cause = 0.2;
  std::vector<std::string> causes;
  if (explanation.gap <= 0 || largest_share(explanation) < single_cause) {
    return causes;
  }
  for (const Component& component : explanation.components) {
    if (component.part.share >= least_cause && causes.size() < most_causes) {
      causes.push_back(fmt::format("{}{}: {}", percent_of(component.part.share),
                                   causes.empty() ? " of that" : "",
                                   cause_text(measurement, component)));
    }
  }
  return causes;
}

std::string guard_text(const Explanation& explanation) {
  std::string text;
  if (explanation.few_slow_calls) {
    text += fmt::format(
        " Only {} slow: too few to say what is usual for slow calls.",
        explanation.slow.calls == 1 ? "1 call is" : count(explanation.slow.calls, "call") + " are");
  }
  if (explanation.gap_is_uncertain) {
    text += fmt::format(" The difference is less than three times the uncertainty of a latency "
                        "(± {}), so the shares say little.",
                        duration(as_double(explanation.uncertainty)));
  }
  return text;
}

} // namespace

std::string short_name(const measure::Measurement& measurement, stacks::FunctionId function) {
  return measurement.functions.has(function)
             ? printable(symbols::last_component(measurement.functions[function].name))
             : "an unknown function";
}

std::string site_text(const measure::Measurement& measurement, stacks::SiteId site) {
  if (!measurement.sites.has(site) || measurement.sites[site].file.empty()) {
    return "";
  }
  const stacks::CallSite& place = measurement.sites[site];
  return fmt::format("{}:{}", printable(base_name(place.file)), place.line);
}

std::string cause_text(const measure::Measurement& measurement, const Component& component) {
  std::vector<const Part*> steps = {&component.part};
  for (const Part& part : component.path) {
    steps.push_back(&part);
  }
  const Part* in = nullptr;
  for (const Part* step : steps) {
    if (is_by_count(*step)) {
      const Part& end = *steps.back();
      std::string text = count_text(measurement, *step);
      if (end.key.kind == PartKind::blocked) {
        const Part* holder = steps.size() > 1 ? steps[steps.size() - 2] : nullptr;
        const std::string where = holder == nullptr || holder == step
                                      ? std::string("its own code")
                                      : quoted(measurement, *holder);
        text += ", and it is " + (component.wait ? wait_text(*component.wait, where)
                                                 : fmt::format("waiting in {}", where));
      }
      return text;
    }
    if (step != steps.back()) {
      in = step;
    }
  }
  return end_text(measurement, component, *steps.back(), in);
}

std::string predicate_text(const measure::Measurement& measurement, const Predicate& predicate) {
  const bool is_child =
      predicate.part.kind == PartKind::child || predicate.part.kind == PartKind::unknown;
  const std::string name = short_name(measurement, predicate.part.function);
  const std::string time = duration(as_double(predicate.at_least));
  switch (predicate.kind) {
  case Predicate::Kind::caller:
    return fmt::format("called from {}", site_text(measurement, predicate.part.site).empty()
                                             ? "one call site"
                                             : site_text(measurement, predicate.part.site));
  case Predicate::Kind::thread:
    return fmt::format("on thread {}", predicate.tid);
  case Predicate::Kind::blocked:
    return is_child ? fmt::format("waited {} or longer in {}", time, name)
                    : fmt::format("waited {} or longer in its own code", time);
  case Predicate::Kind::preempted:
    return is_child ? fmt::format("lost the processor for {} or longer in {}", time, name)
                    : fmt::format("lost the processor for {} or longer", time);
  case Predicate::Kind::count:
    return predicate.at_least == 1
               ? fmt::format("called {}", name)
               : fmt::format("called {} {} times or more", name, count(predicate.at_least));
  case Predicate::Kind::duration:
    return is_child ? fmt::format("{} took {} or longer", name, time)
                    : fmt::format("its own instructions took {} or longer", time);
  case Predicate::Kind::first:
    return "the first call on its thread";
  case Predicate::Kind::cold_start:
    return fmt::format("started in the first {}", time);
  }
  return "";
}

std::string explain_sentence(const measure::Measurement& measurement,
                             const Explanation& explanation) {
  const std::string typically = typical_text(explanation);
  if (is_steady(explanation)) {
    return fmt::format("{}, and steady: 1 call in 100 takes over {}.", typically,
                       duration(as_double(explanation.slow.low))) +
           guard_text(explanation);
  }
  std::string text =
      fmt::format("{}. {} take {} {}", typically, slow_text(explanation),
                  duration(std::abs(explanation.gap)), explanation.gap < 0 ? "less" : "longer");
  if (const auto causes = causes_of(measurement, explanation); !causes.empty()) {
    text += fmt::format(". {}.", fmt::join(causes, "; "));
  } else {
    text += fmt::format(". No single cause: the largest explains {}.",
                        percent_of(largest_share(explanation)));
  }
  return text + guard_text(explanation);
}

std::string main_cause(const measure::Measurement& measurement, const Explanation& explanation) {
  if (is_steady(explanation)) {
    return "";
  }
  const auto causes = causes_of(measurement, explanation);
  if (causes.empty()) {
    return "";
  }
  const std::string& first = causes.front();
  return first.substr(0, std::min(first.find(" ("), first.find(", ")));
}

} // namespace ptlens::exporting
