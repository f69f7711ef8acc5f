// All calls of all threads in one table.
#pragma once

#include "stacks/calls/call.hpp"
#include "stacks/calls/closed_call.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ptlens::stacks {

// Orders the table by thread, then by start, parents before children, renumbers the parents, and
// marks the inner activations.
void order(CallTable& table);

// Calls `use` with each column of the table.
template <class Table, class Use>
void each_column(Table& table, const Use& use) {
  use(table.thread);
  use(table.function);
  use(table.parent);
  use(table.site);
  use(table.start);
  use(table.latency);
  use(table.uncertainty);
  use(table.children);
  use(table.outside);
  use(table.blocked);
  use(table.preempted);
  use(table.removed);
  use(table.switches);
  use(table.state);
  use(table.tail_call);
  use(table.inner);
  use(table.end_unknown);
}

// Returns the call as it was handed on; `first` is the first call of its thread in the table.
[[nodiscard]] ClosedCall closed_call(const CallTable& table, std::size_t call, std::size_t first);

class CallTableBuilder {
public:
  // Returns the sink for the calls of the thread with that index. It is valid until take().
  [[nodiscard]] CallSink& thread(std::uint32_t index);

  // Returns all calls once they are closed: ordered, or by thread and in the order of opening.
  [[nodiscard]] CallTable take();
  [[nodiscard]] CallTable take_as_opened();

private:
  struct Rows final : CallSink {
    std::vector<ClosedCall> rows;
    void take(const ClosedCall& call) override { rows.push_back(call); }
  };
  std::vector<std::unique_ptr<Rows>> threads_;
};

} // namespace ptlens::stacks
