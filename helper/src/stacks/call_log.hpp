// Opening and closing of one thread's calls in the table: parents and off-CPU time. The rules by
// which calls open and close are its users'.
#pragma once

#include "flow/schedule.hpp"
#include "stacks/call.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptlens::stacks {

class CallLog {
public:
  // `thread` is the index to write; both references must outlive the log.
  CallLog(CallTable& table, const flow::Schedule& schedule, std::uint32_t thread, std::int32_t tid)
      : table_(&table), schedule_(&schedule), thread_(thread), tid_(tid) {}

  // The times given from here on are right to within this, ns, either way.
  void set_spread(std::uint32_t spread_ns) { spread_ns_ = spread_ns; }

  // Is told of every call just before it closes.
  class Listener {
  public:
    Listener() = default;
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    Listener(Listener&&) = delete;
    Listener& operator=(Listener&&) = delete;
    virtual ~Listener() = default;
    virtual void closing(std::uint32_t call, std::uint64_t end_ns, CallState state) = 0;
  };
  void set_listener(Listener* listener) { listener_ = listener; } // must outlive the log

  // What the open call does from here on, calls and time outside user code, it does in `row`, which
  // stands for code of its own inside it; no_call: in itself.
  void nest(std::uint32_t call, std::uint32_t row);

  // A call that begins now. Returns its index.
  std::uint32_t open(std::uint32_t function, std::uint32_t parent, std::uint32_t site,
                     std::uint64_t start_ns, bool tail_call);
  void close(std::uint32_t call, std::uint64_t end_ns, CallState state);
  // Where the open call was made turned out.
  void set_site(std::uint32_t call, std::uint32_t site) { table_->site[call] = site; }
  // The call turned out to be one of another function: it was opened at a stub.
  void rename(std::uint32_t call, std::uint32_t function) { table_->function[call] = function; }
  // The closed call turned out to be made inside `parent`, which began no later.
  void adopt(std::uint32_t call, std::uint32_t parent);
  // The same for a call that is still open.
  void reparent(std::uint32_t call, std::uint32_t parent) { table_->parent[call] = parent; }
  // The open call waited for `ns` while another stack of the thread ran: no self time of its own.
  void spend_elsewhere(std::uint32_t call, std::uint64_t ns) {
    table_->children[innermost(call)] += ns;
  }
  // Tracing was off for `ns` while the open call was the innermost.
  void spend_outside(std::uint32_t call, std::uint64_t ns) {
    table_->outside[innermost(call)] += ns;
  }
  [[nodiscard]] bool was_switched_out(std::uint64_t begin_ns, std::uint64_t end_ns) const {
    return schedule_->off_cpu(tid_, begin_ns, end_ns).switches != 0;
  }
  [[nodiscard]] std::uint64_t start(std::uint32_t call) const { return table_->start[call]; }

private:
  [[nodiscard]] std::uint32_t innermost(std::uint32_t call) const;

  CallTable* table_;
  const flow::Schedule* schedule_;
  std::uint32_t thread_;
  std::int32_t tid_;
  std::uint32_t spread_ns_ = 0;
  Listener* listener_ = nullptr;
  std::unordered_map<std::uint32_t, std::uint32_t> nested_; // row by call
};

// Orders the table by thread, then by start, parents before children, renumbers the parents, and
// marks the inner activations.
void order(CallTable& table);

} // namespace ptlens::stacks
