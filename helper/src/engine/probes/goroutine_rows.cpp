// A row is free again as soon as its goroutine has no open call.
#include "engine/probes/goroutine_rows.hpp"

namespace ptlens::engine {

std::optional<GoroutineRows::Row> GoroutineRows::row_for(const GoroutineHit& hit) {
  std::vector<std::size_t>& free = free_[hit.tid];
  Row row{.tid = hit.tid};
  if (!free.empty()) {
    row.index = free.back();
    free.pop_back();
  } else if (rows_ < most_rows) {
    row.index = add_row_(hit);
    ++rows_;
  } else {
    return std::nullopt;
  }
  calls_of_(row.index).begin_stack(hit.hit.time_ns);
  return row;
}

void GoroutineRows::add(const GoroutineHit& hit) {
  const Goroutine goroutine{.pid = hit.pid, .number = hit.number};
  auto open = open_.find(goroutine);
  if (open == open_.end()) {
    if (hit.end || hit.hit.restart) {
      return; // in no call that was seen to begin
    }
    const std::optional<Row> row = row_for(hit);
    if (!row) {
      ++left_out_;
      return;
    }
    open = open_.emplace(goroutine, *row).first;
  }
  const Row row = open->second;
  stacks::ProbeCalls& calls = calls_of_(row.index);
  if (hit.end) {
    calls.unwind(hit.hit.time_ns);
  } else {
    calls.add(hit.hit);
  }
  if (!calls.any_open()) {
    open_.erase(open);
    free_[row.tid].push_back(row.index);
  }
}

void GoroutineRows::clear() {
  for (const auto& [goroutine, row] : open_) {
    free_[row.tid].push_back(row.index);
  }
  open_.clear();
}

} // namespace ptlens::engine
