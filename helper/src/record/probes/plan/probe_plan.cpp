// Tail callees are planned first, because without them the calls that end in them would be
// incomplete. The other callees follow in the order of their addresses.
#include "record/probes/plan/probe_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace ptlens::record {
namespace {

using symbols::Exit;
using symbols::Function;

// Why functions are not measured, or not all of their calls.
enum class Omission { failed, unresolved, chosen_late, refused, partly };

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t index = 0; index < std::min(names.size(), shown); ++index) {
    text += (index == 0 ? "" : ", ") + names[index];
  }
  if (names.size() > shown) {
    text += fmt::format(" and {} more", names.size() - shown);
  }
  return text;
}

class Planner {
public:
  Planner(const StubResolver& resolve, const PlanLimits& limits)
      : resolve_(resolve), limits_(limits) {}

  Result<ProbePlan> plan(std::span<const Place> targets) {
    std::optional<Error> first_failure;
    std::vector<Place> planned;
    for (const Place& target : targets) {
      if (auto added = add_target(target)) {
        planned.push_back(target);
      } else {
        first_failure = first_failure.value_or(added.error());
        omitted_[Omission::failed].insert(target->name);
      }
    }
    if (planned.empty()) {
      return std::unexpected(*first_failure);
    }
    std::vector<Place> callees;
    for (const Place& target : planned) {
      follow_tail_calls(target);
      for (const std::uint64_t address : target.binary->direct_callees(target.function)) {
        if (const auto callee = callee_at(target, address)) {
          add_callee(*callee);
          callees.push_back(*callee);
        }
      }
    }
    for (const Place& callee : callees) {
      follow_tail_calls(callee);
    }
    mark_needed();
    note_omissions(planned.front());
    return std::move(plan_);
  }

private:
  using Key = std::pair<const symbols::Binary*, std::uint64_t>;

  static Key key(const Place& place) { return {place.binary.get(), place->address}; }

  Result<void> add_target(const Place& target) {
    if (target->kind != Function::Kind::code) {
      return std::unexpected(
          Error{.kind = Error::Kind::unsupported,
                .message = fmt::format("{} is a stub or resolver of the linker, not a function",
                                       target->name),
                .file = target.binary->path(),
                .remedy = "measure the function that it jumps to"});
    }
    const std::size_t before = plan_.probes.size();
    seen_.insert(key(target));
    add(target, true);
    if (plan_.probes.size() == before || plan_.probes[before].kind != Probe::Kind::entry) {
      return std::unexpected(
          Error{.kind = Error::Kind::unsupported,
                .message = fmt::format(
                    "the kernel cannot set a probe at the first instruction of {}", target->name),
                .file = target.binary->path(),
                .offset = target.binary->file_offset_of_address(target->address),
                .remedy = "measure its caller"});
    }
    return {};
  }

  std::optional<Place> callee_at(const Place& from, std::uint64_t address) {
    const auto index = from.binary->function_entry(address);
    if (!index) {
      return std::nullopt;
    }
    const Place place{.binary = from.binary, .function = *index};
    switch (place->kind) {
    case Function::Kind::code:
      return place;
    case Function::Kind::plt_stub: {
      const auto name = from.binary->stub_target(*index);
      auto found = name ? resolve_(*name) : std::nullopt;
      if (!found) {
        omitted_[Omission::unresolved].insert(place->name);
        return std::nullopt;
      }
      if ((*found)->kind != Function::Kind::code) {
        omitted_[Omission::chosen_late].insert((*found)->name);
        return std::nullopt;
      }
      return found;
    }
    case Function::Kind::indirect:
      omitted_[Omission::chosen_late].insert(place->name);
      return std::nullopt;
    case Function::Kind::resolver:
    case Function::Kind::thunk:
      return std::nullopt;
    }
    return std::nullopt;
  }

  void add_callee(const Place& callee) {
    if (!seen_.insert(key(callee)).second) {
      return;
    }
    if (callees_ == limits_.callees) {
      too_many_.push_back(callee->name);
      return;
    }
    ++callees_;
    add(callee, false);
  }

  void follow_tail_calls(const Place& from) {
    std::deque<Place> open = {from};
    std::set<Key> followed;
    while (!open.empty()) {
      const Place place = open.front();
      open.pop_front();
      if (!followed.insert(key(place)).second || followed.size() > limits_.callees) {
        continue;
      }
      for (const Exit& exit : place.binary->exit_points(place.function)) {
        if (exit.target == 0) {
          continue;
        }
        if (const auto callee = callee_at(place, exit.target)) {
          add_callee(*callee);
          open.push_back(*callee);
        }
      }
    }
  }

  // Marks the functions that calls of the targets end in. A function with a return probe has no
  // probes at its jumps, because it needs none.
  void mark_needed() {
    for (bool found = true; found;) {
      found = false;
      std::set<Key> ends;
      for (const PlannedProbe& probe : plan_.probes) {
        if ((probe.target || probe.needed) && probe.leads_to) {
          ends.insert(key(*probe.leads_to));
        }
      }
      for (PlannedProbe& probe : plan_.probes) {
        if (!probe.target && !probe.needed && ends.contains(key(probe.place))) {
          probe.needed = true;
          found = true;
        }
      }
    }
  }

  // Adds the entry and the exits of a function, or none of them.
  void add(const Place& place, bool target) {
    std::vector<PlannedProbe> probes;
    const std::vector<Exit> exits = place.binary->exit_points(place.function);
    const auto entry = probe_at(place, entry_address(place, exits), target);
    if (!entry) {
      omitted_[Omission::refused].insert(place->name);
      return;
    }
    probes.push_back(*entry);
    probes.back().kind = Probe::Kind::entry;
    bool some_exit_refused = false;
    const bool returns = limits_.return_probe && limits_.return_probe(place);
    if (returns) {
      probes.push_back(*entry);
      probes.back().kind = Probe::Kind::returned;
    }
    for (const Exit& exit : returns ? std::vector<Exit>() : exits) {
      auto probe = probe_at(place, exit.address, target);
      if (probe && exit.kind == Exit::Kind::conditional_jump) {
        const auto condition = taken_condition(place.binary->code_at(exit.address));
        probe = condition ? probe : std::nullopt;
        if (probe) {
          probe->condition = *condition;
        }
      }
      if (!probe) {
        some_exit_refused = true;
        continue;
      }
      probe->tail_call = exit.kind != Exit::Kind::ret;
      if (exit.target != 0) {
        probe->leads_to = callee_at(place, exit.target);
      }
      jumps_anywhere_ |= target && exit.kind == Exit::Kind::indirect_jump;
      probes.push_back(std::move(*probe));
    }
    if (!target && plan_.probes.size() + probes.size() > limits_.probes) {
      too_many_.push_back(place->name);
      return;
    }
    if (some_exit_refused) {
      omitted_[Omission::partly].insert(place->name);
    }
    plan_.probes.insert(plan_.probes.end(), std::make_move_iterator(probes.begin()),
                        std::make_move_iterator(probes.end()));
  }

  // Returns the first instruction that the kernel emulates, because a hit there costs one trap
  // instead of two, or else the first instruction. Exits are skipped, because they have their own
  // probe.
  static std::uint64_t entry_address(const Place& place, std::span<const Exit> exits) {
    for (const std::uint64_t address : place.binary->entry_instructions(place.function)) {
      const auto code = place.binary->code_at(address);
      if (is_emulated(code) && !is_refused(code) &&
          std::ranges::find(exits, address, &Exit::address) == exits.end()) {
        return address;
      }
    }
    return place->address;
  }

  static std::optional<PlannedProbe> probe_at(const Place& place, std::uint64_t address,
                                              bool target) {
    const auto offset = place.binary->file_offset_of_address(address);
    const auto code = place.binary->code_at(address);
    if (!offset || code.empty() || is_refused(code)) {
      return std::nullopt;
    }
    PlannedProbe probe;
    probe.place = place;
    probe.address = address;
    probe.file_offset = *offset;
    probe.target = target;
    return probe;
  }

  void note(Omission omission, std::string_view code, fmt::format_string<const std::string&> text) {
    if (const auto found = omitted_.find(omission); found != omitted_.end()) {
      const std::set<std::string>& names = found->second;
      plan_.notes.push_back(make_note(code, text, joined({names.begin(), names.end()})));
    }
  }

  void note_omissions(const Place& target) {
    note(Omission::failed, "targets_not_probed", "not measured, because they cannot be probed: {}");
    note(Omission::unresolved, "callees_not_loaded",
         "not measured, because no loaded library defines them yet: {}");
    note(Omission::chosen_late, "callees_chosen_at_start",
         "not measured, because the program chooses their code when it starts: {}");
    note(Omission::refused, "callees_refused",
         "not measured, because the kernel cannot set a probe at their first instruction: {}");
    note(Omission::partly, "exits_refused",
         "some calls are incomplete, because the kernel cannot set a probe at some exits of: {}");
    if (!too_many_.empty()) {
      plan_.notes.push_back(make_note("too_many_callees",
                                      "not measured, because {} calls more functions than can be "
                                      "probed at once ({}): {}",
                                      target->name, limits_.callees, joined(too_many_)));
    }
    if (jumps_anywhere_) {
      plan_.notes.push_back(make_note(
          "indirect_tail_calls",
          "{} also ends with jumps through a register or memory. Such a call is complete only when "
          "the function jumped to is probed too",
          target->name));
    }
  }

  const StubResolver& resolve_;
  const PlanLimits& limits_;
  ProbePlan plan_;
  std::set<Key> seen_;
  std::size_t callees_ = 0;
  bool jumps_anywhere_ = false;
  std::map<Omission, std::set<std::string>> omitted_;
  std::vector<std::string> too_many_;
};

} // namespace

StubResolver resolver_of(TargetFiles& files) {
  return [&files](std::string_view name) { return files.resolve(name); };
}

Result<ProbePlan> plan_probes(const Place& target, const StubResolver& resolve,
                              const PlanLimits& limits) {
  return Planner(resolve, limits).plan({&target, 1});
}

Result<ProbePlan> plan_probes(std::span<const Place> targets, const StubResolver& resolve,
                              const PlanLimits& limits) {
  return Planner(resolve, limits).plan(targets);
}

bool is_emulated(std::span<const std::byte> code) {
  const auto byte = [&code](std::size_t index) {
    return index < code.size() ? std::to_integer<unsigned>(code[index]) : 0U;
  };
  std::size_t at = 0;
  if (byte(0) >= 0x40 && byte(0) <= 0x4f) {
    at = 1; // REX
  }
  const unsigned opcode = byte(at);
  const bool push = opcode >= 0x50 && opcode <= 0x57;
  const bool jump = opcode == 0xeb || opcode == 0xe9 || opcode == 0xe8 ||
                    (opcode >= 0x70 && opcode <= 0x7f) ||
                    (opcode == 0x0f && byte(at + 1) >= 0x80 && byte(at + 1) <= 0x8f);
  return push || (at == 0 && (jump || opcode == 0x90));
}

ProbePlan without_callees(const ProbePlan& plan) {
  ProbePlan part;
  std::ranges::copy_if(plan.probes, std::back_inserter(part.probes), std::not_fn(is_of_callee));
  return part;
}

ProbePlan target_only(const ProbePlan& plan) {
  ProbePlan part;
  std::ranges::copy_if(plan.probes, std::back_inserter(part.probes), [](const PlannedProbe& probe) {
    return probe.target || probe.kind == Probe::Kind::goroutine_end;
  });
  return part;
}

} // namespace ptlens::record
