// How far two numbers without a sign are from each other.
#pragma once

#include <concepts>

namespace ptlens {

template <std::unsigned_integral Number>
[[nodiscard]] constexpr Number distance(Number one, Number other) {
  return one > other ? one - other : other - one;
}

} // namespace ptlens
