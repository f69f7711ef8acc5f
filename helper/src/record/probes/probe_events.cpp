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

// The events of callees may be left out while recording; those of other functions are kept.
bool is_callee(const PlannedProbe& probe) {
  return !probe.target && !probe.needed;
}

const char* prefix_of(const PlannedProbe& probe) {
  return probe.target ? "" : probe.needed ? "tail_" : "callee_";
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
        {.name = group_.name() + "/" + event, .filter = condition.first, .id = ids_.at(event)});
  }
  for (const char* prefix : {"callee_", "tail_", ""}) {
    for (const char* kind : {"returned", "jump", "return", "entry"}) {
      const std::string event = std::string(prefix) + kind;
      if (ids_.contains(event)) {
        list.push_back({.name = group_.name() + "/" + event, .filter = {}, .id = ids_.at(event)});
      }
    }
  }
  return list;
}

std::string ProbeEvents::event_of(const PlannedProbe& probe) {
  const std::string prefix = prefix_of(probe);
  if (probe.kind == Probe::Kind::entry) {
    return prefix + "entry";
  }
  if (probe.kind == Probe::Kind::returned) {
    return prefix + "returned";
  }
  if (probe.condition.empty()) {
    return prefix + (probe.tail_call ? "jump" : "return");
  }
  return conditional_
      .try_emplace({probe.condition, prefix},
                   fmt::format("{}jump_if_{}", prefix, conditional_.size()))
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
  const bool returned = probe.kind == Probe::Kind::returned;
  if (auto added = returned ? group_.add_return(event, file->open_path, probe.file_offset)
                            : group_.add(event, file->open_path, probe.file_offset, arguments);
      !added) {
    return added;
  }
  if (!ids_.contains(event)) {
    const auto id =
        returned ? group_.return_event_id(event) : group_.event_id(event, fields_of(probe));
    if (!id) {
      return std::unexpected(id.error());
    }
    ids_.emplace(event, *id);
    if (is_callee(probe)) {
      callees_.insert(*id);
    }
  }
  const TargetFile* const to =
      probe.leads_to ? files_.file_of(probe.leads_to->binary.get()) : nullptr;
  probes_.push_back(Probe{.kind = probe.kind,
                          .event_id = ids_.at(event),
                          .binary = file->path,
                          .function = probe.place->address,
                          .address = probe.address,
                          .tail_call = probe.tail_call,
                          .target = probe.target,
                          .to_binary = to == nullptr ? "" : to->path,
                          .to_function = to == nullptr ? 0 : (*probe.leads_to)->address});
  return {};
}

} // namespace ptlens::record
