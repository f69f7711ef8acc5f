// Waits and who ended them, in words.
#pragma once

#include "measure/waits/wait_report.hpp"

#include <string>

namespace ptlens::exporting {

// Returns "a lock", "a condition variable", "the disk", …; what follows "waiting for".
[[nodiscard]] std::string awaited_text(waits::Reason reason, waits::LockKind lock);

// Returns "`restock` (order.cpp:88)", without the parentheses where the line is not known; empty
// for an unknown place.
[[nodiscard]] std::string place_text(const measure::SourcePlace& place);

// Returns who ended the waits of a row: "woken by thread `rebalance` in `restock` (order.cpp:88)"
// or "held by …" for a mutex; empty where it is not known.
[[nodiscard]] std::string waker_text(const measure::WaitRow& row, const measure::WakerRow& waker);

} // namespace ptlens::exporting
