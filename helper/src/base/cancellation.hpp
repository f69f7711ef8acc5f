// Cancellation of work on the thread that does it: long loops, far from the code that holds the
// Progress, check whether their work is still wanted. Work that is cut short returns an incomplete
// result. The holder of the Progress checks it afterwards and discards that result.
#pragma once

#include "base/progress.hpp"

namespace ptlens {

// While the object lives, the work of this thread belongs to `progress`. Scopes nest; the innermost
// one counts.
class Cancellable {
public:
  explicit Cancellable(const Progress& progress);
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;
  Cancellable(Cancellable&&) = delete;
  Cancellable& operator=(Cancellable&&) = delete;
  ~Cancellable();

private:
  const Progress* outer_; // not owned
};

// Returns the Progress that the work of this thread belongs to; null where it belongs to none.
[[nodiscard]] const Progress* current_progress();

// Checks whether that Progress was cancelled; false where the work belongs to none.
[[nodiscard]] bool cancel_asked();

} // namespace ptlens
