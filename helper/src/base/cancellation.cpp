// One pointer per thread.
#include "base/cancellation.hpp"

#include <utility>

namespace ptlens {
namespace {

thread_local const Progress* current = nullptr;

} // namespace

Cancellable::Cancellable(const Progress& progress) : outer_(std::exchange(current, &progress)) {}

Cancellable::~Cancellable() {
  current = outer_;
}

const Progress* current_progress() {
  return current;
}

bool cancel_asked() {
  return current != nullptr && current->cancelled();
}

} // namespace ptlens
