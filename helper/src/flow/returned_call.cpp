// From calls that came back to branches.
#include "flow/returned_call.hpp"

#include <algorithm>
#include <cstddef>

namespace ptlens::flow {
namespace {

void tell_return(const ReturnedCall& call, const CodePoints& points, std::vector<Branch>& into) {
  const WayEnds& back = points.ways[call.back];
  into.push_back({.time_ns = call.start_ns + call.latency_ns,
                  .from = back.end_address,
                  .to = points.exit(call.exit).address_behind(),
                  .spread_ns = call.end_spread,
                  .kind = BranchKind::ret,
                  .from_size = back.end_size,
                  .exit = CodePoints::number_of_way(call.back)});
}

} // namespace

void tell_opening(const ReturnedCall& call, const CodePoints& points, std::vector<Branch>& into) {
  const CodePoints::Instruction from = points.exit(call.exit);
  Branch branch{.time_ns = call.start_ns,
                .from = from.address,
                .to = points.arrival(call.arrival),
                .spread_ns = call.start_spread,
                .kind = call.kind,
                .from_size = from.size,
                .exit = call.exit,
                .arrival = call.arrival};
  if (call.stub == no_way) {
    into.push_back(branch);
    return;
  }
  Branch jump = branch;
  jump.kind = BranchKind::indirect;
  jump.from = points.ways[call.stub].end_address;
  jump.from_size = points.ways[call.stub].end_size;
  jump.exit = CodePoints::number_of_way(call.stub);
  branch.arrival = call.exit; // direct: both ends have one number
  branch.to = points.arrival(branch.arrival);
  into.push_back(branch);
  into.push_back(jump);
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
    const CodePoints::Instruction from = points.exit(part.last_exit);
    into.push_back({.time_ns = part.last_ns,
                    .from = from.address,
                    .to = points.arrival(part.last_arrival),
                    .spread_ns = part.last_spread,
                    .kind = part.last_kind,
                    .from_size = from.size,
                    .exit = part.last_exit,
                    .arrival = part.last_arrival});
  }
}

} // namespace ptlens::flow
