#include "record/probes/events/probe_events.hpp"

#include <fmt/format.h>

#include <set>

namespace ptlens::record {
namespace {

constexpr const char* condition_arguments = "sp=%sp:u64 flags=%flags:u64";

// The layout is the same at all probes of Go: record/goroutine_sample.hpp.
constexpr std::string_view goroutine_prefix = "go_";
// Calls of the target end there too, so that it is no event of a callee.
constexpr const char* goroutine_end = "go_end";

std::vector<std::string> fields_of(const PlannedProbe& probe) {
  if (!probe.goroutine.empty()) {
    std::vector<std::string> fields = {"sp", "ret", "low", "high", "goroutine"};
    if (!probe.condition.empty()) {
      fields.emplace_back("flags");
    }
    return fields;
  }
  if (probe.kind == Probe::Kind::entry) {
    return {"sp", "ret"};
  }
  return probe.condition.empty() ? std::vector<std::string>{"sp"}
                                 : std::vector<std::string>{"sp", "flags"};
}

const char* prefix_of(const PlannedProbe& probe) {
  return probe.target ? "" : probe.needed ? "tail_" : "callee_";
}

std::string arguments_of(const PlannedProbe& probe) {
  if (!probe.goroutine.empty()) {
    return fmt::format("{} {}{}", entry_arguments, probe.goroutine,
                       probe.condition.empty() ? "" : " flags=%flags:u64");
  }
  return probe.kind == Probe::Kind::entry ? entry_arguments
         : probe.condition.empty()        ? exit_arguments
                                          : condition_arguments;
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
  for (const auto& [key, event] : conditional_) {
    list.push_back(
        {.name = group_.name() + "/" + event, .filter = std::get<0>(key), .id = ids_.at(event)});
  }
  const auto add = [&](const std::string& event) {
    if (ids_.contains(event)) {
      list.push_back({.name = group_.name() + "/" + event, .filter = {}, .id = ids_.at(event)});
    }
  };
  add(goroutine_end);
  for (const char* prefix : {"callee_", "tail_", ""}) {
    for (const char* kind : {"restart", "returned", "jump", "return", "entry"}) {
      add(fmt::format("{}{}", prefix, kind));
      add(fmt::format("{}{}{}", prefix, goroutine_prefix, kind));
    }
  }
  return list;
}

std::string ProbeEvents::event_of(const PlannedProbe& probe) {
  const bool go = !probe.goroutine.empty();
  const auto named = [&](std::string_view kind) {
    return fmt::format("{}{}{}", prefix_of(probe), go ? goroutine_prefix : "", kind);
  };
  switch (probe.kind) {
  case Probe::Kind::entry:
    return named("entry");
  case Probe::Kind::returned:
    return named("returned");
  case Probe::Kind::restart:
    return named("restart");
  case Probe::Kind::goroutine_end:
    return goroutine_end;
  case Probe::Kind::exit:
    break;
  }
  if (probe.condition.empty()) {
    return named(probe.tail_call ? "jump" : "return");
  }
  return conditional_
      .try_emplace({probe.condition, prefix_of(probe), go},
                   named(fmt::format("jump_if_{}", conditional_.size())))
      .first->second;
}

Result<void> ProbeEvents::define(const PlannedProbe& probe) {
  const TargetFile* const file = files_.file_of(probe.place.binary.get());
  if (file == nullptr) {
    return std::unexpected(
        Error{.message = "the target did not load this file", .file = probe.place.binary->path()});
  }
  const std::string event = event_of(probe);
  const bool returned = probe.kind == Probe::Kind::returned;
  if (auto added = returned
                       ? group_.add_return(event, file->open_path, probe.file_offset)
                       : group_.add(event, file->open_path, probe.file_offset, arguments_of(probe));
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
    if (is_of_callee(probe)) {
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
                          .goroutine = !probe.goroutine.empty(),
                          .to_binary = to == nullptr ? "" : to->path,
                          .to_function = to == nullptr ? 0 : (*probe.leads_to)->address});
  return {};
}

} // namespace ptlens::record
