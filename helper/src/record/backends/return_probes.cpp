#include "record/backends/return_probes.hpp"

#include "record/targets/unwinding.hpp"

#include <string>

namespace ptlens::record {

std::function<bool(const Place&)> choose_return_probes(const Request& request, TargetFiles& files,
                                                       std::vector<Note>& notes) {
  if (request.returns == "exit") {
    return {};
  }
  const std::string danger = why_unwound(files, request);
  // Go moves its stacks, and with them the return addresses that such a probe replaces.
  const auto may_return = [](const Place& place) { return !place.binary->has_go_runtime(); };
  if (request.returns == "uretprobe" && !contains_go(files)) {
    if (!danger.empty()) {
      notes.push_back(make_note("return_probes_forced",
                                "return probes were used because the request asks for them. They "
                                "end a program that unwinds through a measured function, and {}",
                                danger));
    }
    return may_return;
  }
  if (danger.empty()) {
    notes.push_back(make_note("return_probes",
                              "the ends of calls were seen by return probes, because nothing that "
                              "the program has loaded unwinds or switches stacks"));
    return may_return;
  }
  notes.push_back(make_note("exit_probes",
                            "the ends of calls were seen by probes at the exits, because return "
                            "probes would endanger the program: {}",
                            danger));
  if (contains_go(files)) {
    return {};
  }
  return [may_return](const Place& place) { return may_return(place) && is_leaf(place); };
}

} // namespace ptlens::record
