#include "export/explain/explain_text.hpp"

#include "export/explain/sentence.hpp"
#include "export/text/loss.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ptlens::exporting {

namespace {

using measure::Component;
using measure::Explanation;
using measure::Part;
using measure::PartKind;

constexpr double bar_width = 40;
constexpr double hundred = 100;

std::string signed_time(double ns) {
  return (ns < 0 ? "\u2212" : "+") + duration(std::abs(ns));
}

std::string share_text(double share) {
  return fmt::format("{}{:.1f} %", share < 0 ? "\u2212" : "", std::abs(hundred * share));
}

// Returns a bar from `from` to `to`, which are parts of the width.
std::string bar(double from, double to) {
  const auto at = [](double part) {
    return static_cast<std::size_t>(std::lround(std::clamp(part, 0.0, 1.0) * bar_width));
  };
  const std::size_t begin = at(std::min(from, to));
  const std::size_t end = std::max(at(std::max(from, to)), begin);
  std::string text(begin, ' ');
  for (std::size_t column = begin; column < end; ++column) {
    text += "\u2588";
  }
  return end == begin ? text + "\u258f" : text;
}

std::string part_name(const measure::Measurement& measurement, const Part& part) {
  switch (part.key.kind) {
  case PartKind::self:
    return "its own instructions";
  case PartKind::blocked:
    return "waiting in its own code";
  case PartKind::preempted:
    return "without a processor";
  case PartKind::child:
  case PartKind::unknown:
    return fmt::format("{}  {}", short_name(measurement, part.key.function),
                       site_text(measurement, part.key.site));
  }
  return "";
}

std::string presence_text(const Part& part) {
  return fmt::format("{} / {}", count(part.slow_presence), count(part.typical_presence));
}

// The rows add up: typical + parts = slow. Parts below 1 % are one row.
std::string bridge_text(const measure::Measurement& measurement, const Explanation& explanation) {
  Table table(
      {text_column(""), "", "share", "in slow / typical calls", text_column(""), text_column("")});
  const double most = std::max(explanation.slow.mean, explanation.typical.mean);
  double reached = explanation.typical.mean;
  table.add({"typical", brief_figure(explanation.typical.mean, as_double(explanation.uncertainty)),
             "", fmt::format("{} calls", count(explanation.typical.calls)), bar(0, reached / most),
             ""});
  double rest = 0;
  const auto add = [&](const std::string& delta, double time, const std::string& share,
                       const std::string& presence, const std::string& name) {
    table.add({"", delta, share, presence, bar(reached / most, (reached + time) / most), name});
    reached += time;
  };
  for (const Component& component : explanation.components) {
    const Part& part = component.part;
    constexpr double least = 0.01;
    if (std::abs(part.share) < least) {
      rest += part.delta;
      continue;
    }
    add(signed_time(part.delta), part.delta, share_text(part.share), presence_text(part),
        part_name(measurement, part));
  }
  if (rest != 0 && explanation.gap != 0) {
    add(signed_time(rest), rest, share_text(rest / explanation.gap), "", "everything else");
  }
  table.add({"slow", duration(explanation.slow.mean), "",
             fmt::format("{} calls", count(explanation.slow.calls)),
             bar(0, explanation.slow.mean / most), ""});
  return table.text(2);
}

std::string causes_text(const measure::Measurement& measurement, const Explanation& explanation) {
  std::string text;
  for (const Component& component : explanation.components) {
    if (component.part.share < measure::least_followed_share) {
      continue;
    }
    text += fmt::format("  {} ({} to {}): {}\n", share_text(component.part.share),
                        share_text(component.share_low), share_text(component.share_high),
                        cause_text(measurement, component));
    if (component.part.example) {
      text += fmt::format("      for example the call on thread {} at {}\n",
                          component.part.example->tid, component.part.example->start);
    }
  }
  return text;
}

std::string kinds_text(const measure::Measurement& measurement, const Explanation& explanation) {
  Table table({"calls", "precision", "recall", text_column("")});
  for (const measure::SlowKind& kind : explanation.kinds) {
    table.add({count(kind.calls), share_text(kind.precision), share_text(kind.recall),
               predicate_text(measurement, kind.predicate)});
  }
  return table.text(2);
}

std::string variance_text(const measure::Measurement& measurement, const Explanation& explanation) {
  constexpr std::size_t most_rows = 8;
  Table table({"share", text_column("")});
  for (std::size_t row = 0; row < std::min(most_rows, explanation.variance.size()); ++row) {
    const measure::VariancePart& part = explanation.variance[row];
    table.add({share_text(part.share), part_name(measurement, Part{.key = part.key})});
  }
  return table.text(2);
}

} // namespace

std::string explain_text(const measure::Measurement& measurement, const Explanation& explanation) {
  std::string text = loss_text(measurement);
  text += fmt::format("{}\n\n{}\n", printable(measurement.functions[explanation.function].name),
                      explain_sentence(measurement, explanation));
  if (explanation.left_out > 0) {
    text += fmt::format("{} incomplete or unwound: not compared.\n",
                        explanation.left_out == 1 ? "1 call is"
                                                  : count(explanation.left_out, "call") + " are");
  }
  text += "\nFrom typical to slow\n" + bridge_text(measurement, explanation);
  if (const std::string causes = causes_text(measurement, explanation); !causes.empty()) {
    text += "\nWhy\n" + causes;
  }
  if (!explanation.kinds.empty()) {
    text += "\nKinds of slow calls\n" + kinds_text(measurement, explanation);
  }
  if (!explanation.variance.empty()) {
    text += "\nWhat makes the latency vary\n" + variance_text(measurement, explanation);
  }
  return text;
}

} // namespace ptlens::exporting
