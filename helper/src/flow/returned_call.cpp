// From calls that came back to branches.
#include "flow/returned_call.hpp"

#include <algorithm>
#include <cstddef>

namespace ptlens::flow {
namespace {

void tell_return(const ReturnedCall& call, const CodePoints& points, std::vector<Branch>& into) {
  const std::uint64_t behind = points.exit(call.exit).address_behind();
  into.push_back(timed(points.branch_of_way(call.back, BranchKind::ret, behind),
                       call.start_ns + call.latency_ns, call.end_uncertainty));
}

} // namespace

void tell_opening(const ReturnedCall& call, const CodePoints& points, std::vector<Branch>& into) {
  const auto tell = [&](const Branch& branch) {
    into.push_back(timed(branch, call.start_ns, call.start_uncertainty));
  };
  if (call.stub == no_block) {
    tell(points.branch_of(call.exit, call.arrival, call.kind));
    return;
  }
  tell(points.branch_of(call.exit, call.exit, call.kind)); // direct: both ends have one number
  tell(points.branch_of(CodePoints::number_of_way(call.stub), call.arrival, BranchKind::indirect));
}

void unfold(const ReturnedCalls& part, std::span<const ReturnedCall> calls,
            const CodePoints& points, std::vector<Branch>& into) {
  std::vector<std::uint32_t> open; // indices in the run
  const auto close_behind = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      if (const ReturnedCall& call = calls[open.back() - part.begin]; !call.is_tail()) {
        tell_return(call, points, into);
      }
    }
  };
  std::uint32_t index = part.begin;
  for (const ReturnedCall& call : calls) {
    const auto parent = std::ranges::find(open, call.parent);
    close_behind(parent == open.end() ? 0 : static_cast<std::size_t>(parent - open.begin()) + 1);
    tell_opening(call, points, into);
    open.push_back(index++);
  }
  close_behind(0);
  if (part.last_exit != 0) {
    into.push_back(timed(points.branch_of(part.last_exit, part.last_arrival, part.last_kind),
                         part.last_ns, part.last_uncertainty));
  }
}

} // namespace ptlens::flow
