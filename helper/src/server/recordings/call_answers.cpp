#include "server/recordings/call_answers.hpp"

#include "base/cancellation.hpp"
#include "export/difference.hpp"
#include "export/explain/explain_json.hpp"
#include "export/json/calls_json.hpp"
#include "export/json/distribution_json.hpp"
#include "export/json/flame_json.hpp"
#include "export/json/json_text.hpp"
#include "export/timeline/timeline_json.hpp"
#include "export/waits/waits_json.hpp"
#include "measure/change/recordings.hpp"
#include "measure/explain/explain.hpp"
#include "measure/explain/wait_causes.hpp"
#include "measure/selection/call_numbers.hpp"
#include "measure/timeline/longest_parts.hpp"
#include "measure/timeline/timeline.hpp"
#include "measure/waits/report_waits.hpp"
#include "server/recordings/find_functions.hpp"
#include "server/requests/command_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::server {

namespace {

constexpr std::size_t most_flame_nodes = 20'000;
constexpr std::size_t most_call_parts = 2;

// What a question is about, checked against the recording.
struct Subject {
  const OpenRecording* recording = nullptr;
  std::optional<FunctionSelector> asked; // absent: all functions
  std::vector<stacks::FunctionId> functions = {};
  const measure::Selection* selection = nullptr;

  [[nodiscard]] const measure::Measurement& measurement() const { return *recording->measurement; }
  // Returns the command line that answers the same.
  [[nodiscard]] std::vector<std::string> command(const char* name) const {
    const bool one = asked && functions.size() == 1;
    return command_line(measurement(),
                        {.command = name,
                         .source = &recording->source,
                         .asked = asked,
                         .function = one ? std::optional(functions.front()) : std::nullopt},
                        *selection);
  }
};

// Without a selector, `functions` is empty. `several`: the selector may ask for all of a name.
Result<Subject> subject_of(const OpenRecording& recording,
                           const std::optional<FunctionSelector>& asked,
                           const measure::Selection& selection, bool several = false) {
  Subject subject{.recording = &recording, .asked = asked, .selection = &selection};
  if (asked) {
    FunctionSelector selector = *asked;
    selector.all = selector.all && several;
    auto functions = function_indices(subject.measurement(), selector);
    if (!functions) {
      return std::unexpected(std::move(functions.error()));
    }
    subject.functions = std::move(*functions);
  }
  if (auto checked = measure::check_selection(subject.measurement(), selection); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return subject;
}

// Returns the node that the stack leads to, or the last one on the way there.
std::uint32_t focused_node(const measure::Measurement& measurement, const measure::FlameTree& tree,
                           const std::vector<FunctionSelector>& stack) {
  const auto is_of = [&](std::size_t node, const FunctionSelector& wanted) {
    const stacks::FunctionInfo function = frame_function(measurement, tree.function[node]);
    return function.name == wanted.name && function.binary == wanted.binary &&
           (!wanted.address || function.address == *wanted.address);
  };
  std::uint32_t found = 0;
  auto next = stack.begin();
  for (std::uint32_t node = 1; node < tree.size() && next != stack.end(); ++node) {
    if (tree.parent[node] == found && is_of(node, *next)) {
      found = node;
      ++next;
    }
  }
  return found;
}

} // namespace

Result<Json> answer_flame(OpenRecording& recording, const FlameRequest& request,
                          const WaitsSource& waits) {
  const auto subject = subject_of(recording, request.function, request.selection, true);
  if (!subject) {
    return std::unexpected(subject.error());
  }
  std::shared_ptr<const waits::Waits> known;
  if (request.waits) {
    auto found = waits();
    if (!found) {
      return std::unexpected(found.error());
    }
    known = std::move(*found);
  }
  const auto down_to = [&](double smallest) {
    return recording.flame({.functions = subject->functions,
                            .selection = request.selection,
                            .time = request.time,
                            .waits = request.waits},
                           smallest, [&] {
                             return measure::flame(subject->measurement(), subject->functions,
                                                   request.selection, request.time, smallest,
                                                   known.get());
                           });
  };
  double smallest = request.smallest;
  auto made = down_to(smallest);
  std::uint32_t focus = focused_node(subject->measurement(), *made, request.focus);
  if (focus != 0) {
    made = down_to(0); // for this zoom and those that follow
    focus = focused_node(subject->measurement(), *made, request.focus);
  }
  measure::FlameTree tree = pruned(*made, smallest, focus);
  while (tree.size() > most_flame_nodes && smallest < 1) {
    smallest = std::max(smallest * 4, 1e-5);
    tree = pruned(*made, smallest, focus);
  }
  Json json = exporting::flame_json(subject->measurement(), tree, request.time);
  auto command = subject->command("flame");
  if (request.time != measure::FlameTime::wall) {
    command.emplace_back(request.time == measure::FlameTime::on_cpu ? "--on" : "--off");
  }
  if (request.waits) {
    command.emplace_back("--waits");
  }
  json["command"] = std::move(command);
  return with_id(recording, std::move(json));
}

Result<Json> answer_calls(const OpenRecording& recording, const CallsRequest& request,
                          const WaitsSource& waits) {
  auto subject = subject_of(recording, request.function, request.selection, true);
  if (!subject) {
    return std::unexpected(subject.error());
  }
  if (!request.function) {
    const auto all = subject->measurement().functions.ids();
    subject->functions.assign(all.begin(), all.end());
  }
  const bool with_function = !request.function || request.function->all;
  const measure::CallPage page = measure::read_page(subject->measurement(), subject->functions,
                                                    request.selection, request.page);
  std::optional<exporting::CallDetails> details;
  if (request.details) {
    const auto known = waits();
    if (!known) {
      return std::unexpected(known.error());
    }
    details = {.numbers =
                   measure::call_numbers(subject->measurement(), subject->functions, page.calls),
               .parts = measure::longest_parts(subject->measurement(), page.calls, known->get(),
                                               most_call_parts)};
  }
  Json json = exporting::calls_json(subject->measurement(), page, request.page.offset,
                                    with_function, details ? &*details : nullptr);
  json["command"] = subject->command("calls");
  return json;
}

Result<Json> answer_waits(const OpenRecording& recording, const WaitsRequest& request,
                          const WaitsSource& waits) {
  const auto subject = subject_of(recording, request.function, request.selection);
  if (!subject) {
    return std::unexpected(subject.error());
  }
  const auto known = waits();
  if (!known) {
    return std::unexpected(known.error());
  }
  const auto function =
      subject->functions.empty() ? std::nullopt : std::optional(subject->functions.front());
  Json json = exporting::waits_json(
      subject->measurement(),
      measure::report_waits(subject->measurement(), **known, function, request.selection));
  json["command"] = subject->command("waits");
  return with_id(recording, std::move(json));
}

Result<Json> answer_timeline(const OpenRecording& recording,
                             const protocol::TimelineParams& request, const WaitsSource& waits,
                             const PartingSource& parting) {
  const measure::Selection all;
  const auto subject = subject_of(recording, request.function, all);
  if (!subject) {
    return std::unexpected(subject.error());
  }
  const auto known = waits();
  if (!known) {
    return std::unexpected(known.error());
  }
  const auto start = static_cast<std::uint64_t>(request.start);
  auto made = measure::timeline(subject->measurement(), **known, subject->functions.front(),
                                {.tid = static_cast<std::int32_t>(request.tid), .start = start});
  if (!made) {
    return std::unexpected(made.error());
  }
  auto parted = parting(*made);
  if (!parted) {
    return std::unexpected(parted.error());
  }
  made->parting = std::move(*parted);
  Json json = exporting::timeline_json(subject->measurement(), *made);
  auto command = subject->command("timeline");
  command.insert(command.end(),
                 {"--call", std::to_string(request.tid) + ":" + std::to_string(request.start)});
  json["command"] = std::move(command);
  return with_id(recording, std::move(json));
}

Result<Json> answer_explain(const OpenRecording& recording, const ExplainRequest& request,
                            const WaitsSource& waits) {
  const auto subject = subject_of(recording, request.function, request.selection);
  if (!subject) {
    return std::unexpected(subject.error());
  }
  auto explanation = measure::explain(subject->measurement(), subject->functions.front(),
                                      request.selection, request.sets);
  if (!explanation) {
    return std::unexpected(explanation.error());
  }
  if (measure::ends_in_wait(*explanation)) {
    const auto known = waits();
    if (!known) {
      return std::unexpected(known.error());
    }
    measure::name_waits(subject->measurement(), **known, request.selection, *explanation);
  }
  Json json = exporting::explain_json(subject->measurement(), *explanation);
  auto command = subject->command("explain");
  for (const auto& [option, value] :
       {std::pair("--slow", &request.slow), std::pair("--typical", &request.typical)}) {
    if (!value->empty()) {
      command.emplace_back(option);
      command.push_back(*value);
    }
  }
  json["command"] = std::move(command);
  return with_id(recording, std::move(json));
}

Json answer_diff(const OpenRecording& recording, const OpenRecording& baseline) {
  const std::array<const measure::Measurement*, 1> base = {baseline.measurement.get()};
  const std::array<const measure::Measurement*, 1> now = {recording.measurement.get()};
  Json json = exporting::difference_json(base, now, measure::differences(base, now));
  json["base"]["id"] = baseline.id;
  json["command"] = {"ptlens", "diff", baseline.source.path, recording.source.path};
  return with_id(recording, std::move(json));
}

Result<Json> answer_distribution(const OpenRecording& recording,
                                 const DistributionRequest& request) {
  const auto subject = subject_of(recording, request.function, request.selection);
  if (!subject) {
    return std::unexpected(subject.error());
  }
  const stacks::FunctionId function = subject->functions.front();
  Json json =
      exporting::distribution_json(subject->measurement(), function,
                                   measure::distribution(subject->measurement(), {&function, 1},
                                                         request.selection, request.shape));
  json["command"] = subject->command("calls");
  return with_id(recording, std::move(json));
}

Json report_command(const OpenRecording& recording, const ReportRequest& request,
                    std::optional<stacks::FunctionId> function) {
  return command_line(*recording.measurement,
                      {.command = "report",
                       .source = &recording.source,
                       .asked = request.function,
                       .function = function},
                      request.selection);
}

} // namespace ptlens::server
