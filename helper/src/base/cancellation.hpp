// Whether the work that this thread does is still wanted: asked in long loops far below the one who
// knows. Work that is cut short gives something incomplete: whoever holds the Progress looks at it
// afterwards and throws that away.
#pragma once

#include "base/progress.hpp"

namespace ptlens {

// While it stands, what this thread does is for that progress. The innermost counts.
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

// What this thread is Cancellable for; null where that is nothing.
[[nodiscard]] const Progress* worked_for();

// False where nothing is Cancellable.
[[nodiscard]] bool cancel_asked();

} // namespace ptlens
