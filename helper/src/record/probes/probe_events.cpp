#include "record/probes/probe_events.hpp"

#include <fmt/format.h>

#include <set>

namespace ptlens::record {
namespace {

constexpr const char* condition_arguments = "sp=%sp:u64 flags=%flags:u64";

std::vector<std::string> fields_of(const PlannedProbe& probe) {
  if (probe.kind == Probe::Kind::entry) {
    return {"sp", "ret"};
  }
  return probe.condition.empty() ? std::vector<std::string>{"sp"}
                                 : std::vector<std::string>{"sp", "flags"};
}

} // namespace

Result<void> ProbeEvents::define(const ProbePlan& plan) {
  std::set<std::string> refused;
  for (const PlannedProbe& probe : plan.probes) {
    auto defined = define(probe);
    if (defined) {
      continue;
    }
    const bool access = defined.error().kind == Error::Kind::no_rights;
    if (access || (probe.target && probe.kind == Probe::Kind::entry)) {
      return defined;
    }
    if (is_second(probe.kind)) {
      continue;
    }
    refused.insert(probe.place->name);
  }
  for (const std::string& name : refused) {
    notes_.push_back(
        make_note("probe_refused",
                  "some calls of {} are incomplete, because the kernel refused a probe", name));
  }
  return {};
}

std::vector<ProbeEvent> ProbeEvents::events() const {
  std::vector<ProbeEvent> list;
  list.reserve(conditional_.size() + ids_.size());
  for (const auto& [condition, event] : conditional_) {
    list.push_back(
        {.name = group_.name() + "/" + event, .filter = condition, .id = ids_.at(event)});
  }
  for (const char* event : {"jump", "after_exit", "return", "after_entry", "entry"}) {
    if (ids_.contains(event)) {
      list.push_back({.name = group_.name() + "/" + event, .filter = {}, .id = ids_.at(event)});
    }
  }
  return list;
}

std::string ProbeEvents::event_of(const PlannedProbe& probe) {
  switch (probe.kind) {
  case Probe::Kind::entry:
    return "entry";
  case Probe::Kind::after_entry:
    return "after_entry";
  case Probe::Kind::after_exit:
    return "after_exit";
  case Probe::Kind::exit:
    break;
  }
  if (probe.condition.empty()) {
    return probe.tail_call ? "jump" : "return";
  }
  return conditional_.try_emplace(probe.condition, fmt::format("jump_if_{}", conditional_.size()))
      .first->second;
}

Result<void> ProbeEvents::define(const PlannedProbe& probe) {
  const TargetFile* const file = files_.file_of(probe.place.binary.get());
  if (file == nullptr) {
    return std::unexpected(
        Error{.message = "the target did not load this file", .file = probe.place.binary->path()});
  }
  const std::string event = event_of(probe);
  const char* const arguments = probe.kind == Probe::Kind::entry ? entry_arguments
                                : probe.condition.empty()        ? exit_arguments
                                                                 : condition_arguments;
  if (auto added = group_.add(event, file->open_path, probe.file_offset, arguments); !added) {
    return added;
  }
  if (!ids_.contains(event)) {
    const auto id = group_.event_id(event, fields_of(probe));
    if (!id) {
      return std::unexpected(id.error());
    }
    ids_.emplace(event, *id);
  }
  probes_.push_back(Probe{.kind = probe.kind,
                          .event_id = ids_.at(event),
                          .binary = file->path,
                          .function = probe.place->address,
                          .address = probe.address,
                          .tail_call = probe.tail_call,
                          .target = probe.target});
  return {};
}

} // namespace ptlens::record
