// Go's register ABI: cmd/compile/abi-internal.md, "Amd64 architecture": R14 is the current
// goroutine at the entry of a function and at its return.
#include "record/probes/plan/goroutine_probes.hpp"

#include "symbols/golang/go_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace ptlens::record {
namespace {

constexpr std::string_view grows_stack = "runtime.morestack";
constexpr const char* ends_goroutine = "runtime.Goexit";

Error not_followed(const Place& place, std::string_view reason, std::string remedy) {
  return Error{.kind = Error::Kind::unsupported,
               .message = fmt::format("the calls of {} cannot be matched with their returns, "
                                      "because goroutines move between threads and {}",
                                      place->name, reason),
               .file = place.binary->path(),
               .remedy = std::move(remedy)};
}

// Returns the values to store at a hit in a function of Go; nothing for other functions.
Result<std::optional<std::string>> arguments_in(const Place& place) {
  if (!place.binary->has_go_runtime()) {
    return std::nullopt;
  }
  const std::optional<symbols::GoRuntime>& runtime = place.binary->go_runtime();
  if (!runtime) {
    return std::unexpected(
        not_followed(place, "the binary's symbols are stripped", "build it without -ldflags=-s"));
  }
  if (!runtime->code.contains(place->address)) {
    return std::nullopt;
  }
  if (!runtime->goroutine) {
    return std::unexpected(not_followed(
        place, "without debug information it is not known where Go keeps their numbers",
        "build it without -ldflags=-w"));
  }
  if (!runtime->has_goroutine_register) {
    return std::unexpected(not_followed(
        place, fmt::format("the code of {} does not keep them in a register", runtime->compiler),
        "build it with Go 1.18 or later"));
  }
  return fmt::format("low=+{}(%r14):u64 high=+{}(%r14):u64 goroutine=+{}(%r14):u64",
                     runtime->goroutine->stack_low, runtime->goroutine->stack_high,
                     runtime->goroutine->number);
}

std::optional<PlannedProbe> probe_at(const Place& place, std::uint64_t address, Probe::Kind kind,
                                     const PlannedProbe& like) {
  const auto offset = place.binary->file_offset_of_address(address);
  if (!offset || is_refused(place.binary->code_at(address))) {
    return std::nullopt;
  }
  PlannedProbe probe;
  probe.place = place;
  probe.kind = kind;
  probe.address = address;
  probe.file_offset = *offset;
  probe.target = like.target;
  probe.goroutine = like.goroutine;
  return probe;
}

class GoroutinePlan {
public:
  Result<std::vector<PlannedProbe>> of(std::vector<PlannedProbe> planned, bool one_thread) {
    for (PlannedProbe& probe : planned) {
      const auto& arguments = arguments_of(probe.place);
      if (!arguments) {
        if (probe.target) {
          return std::unexpected(arguments.error());
        }
        continue;
      }
      if (arguments->has_value()) {
        if (one_thread) {
          return std::unexpected(
              Error{.kind = Error::Kind::bad_input,
                    .message = fmt::format("calls of {} move between threads with their "
                                           "goroutines, so that one thread cannot be measured",
                                           probe.place->name),
                    .remedy = "measure the process: --pid"});
        }
        const bool in_call = probe.kind == Probe::Kind::entry || probe.kind == Probe::Kind::exit;
        if (!in_call || probe.place->linkage_name.starts_with(grows_stack)) {
          continue;
        }
        probe.goroutine = **arguments;
      }
      add(std::move(probe));
    }
    return std::move(probes_);
  }

private:
  using Key = std::pair<const symbols::Binary*, std::uint64_t>;

  const Result<std::optional<std::string>>& arguments_of(const Place& place) {
    const Key key{place.binary.get(), place->address};
    const auto known = arguments_.find(key);
    return known != arguments_.end() ? known->second
                                     : arguments_.emplace(key, arguments_in(place)).first->second;
  }

  void add(PlannedProbe probe) {
    probes_.push_back(std::move(probe));
    const PlannedProbe added = probes_.back();
    if (added.goroutine.empty() || added.kind != Probe::Kind::entry) {
      return;
    }
    const Place& place = added.place;
    for (const std::uint64_t address : place.binary->calls_to(place.function, grows_stack)) {
      if (auto again = probe_at(place, address, Probe::Kind::restart, added)) {
        probes_.push_back(std::move(*again));
      }
    }
    if (with_ends_.insert(place.binary.get()).second) {
      for (const std::uint32_t function : place.binary->find(ends_goroutine)) {
        const Place end{.binary = place.binary, .function = function};
        if (auto probe_of_end = probe_at(end, end->address, Probe::Kind::goroutine_end, added)) {
          probe_of_end->target = false;
          probes_.push_back(std::move(*probe_of_end));
        }
      }
    }
  }

  std::vector<PlannedProbe> probes_;
  std::map<Key, Result<std::optional<std::string>>> arguments_;
  std::set<const symbols::Binary*> with_ends_;
};

} // namespace

Result<void> follow_goroutines(ProbePlan& plan, bool one_thread) {
  auto probes = GoroutinePlan().of(std::move(plan.probes), one_thread);
  if (!probes) {
    return std::unexpected(probes.error());
  }
  plan.probes = std::move(*probes);
  return {};
}

} // namespace ptlens::record
