// Literals for the ids of functions, call sites and calls: 3_fn, 1_site, 0_call, 2_row.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstdint>

namespace ptlens {

consteval stacks::FunctionId operator""_fn(unsigned long long number) {
  return stacks::FunctionId{static_cast<std::uint32_t>(number)};
}
consteval stacks::SiteId operator""_site(unsigned long long number) {
  return stacks::SiteId{static_cast<std::uint32_t>(number)};
}
consteval stacks::CallId operator""_call(unsigned long long number) {
  return stacks::CallId{static_cast<std::uint32_t>(number)};
}
consteval stacks::CallIndex operator""_row(unsigned long long number) {
  return stacks::CallIndex{static_cast<std::uint32_t>(number)};
}

} // namespace ptlens
