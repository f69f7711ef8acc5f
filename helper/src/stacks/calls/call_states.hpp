// A set of call states.
#pragma once

#include "stacks/calls/call.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace ptlens::stacks {

inline constexpr std::array<CallState, 3> every_state = {CallState::complete, CallState::incomplete,
                                                         CallState::unwound};

class CallStates {
public:
  constexpr CallStates() = default;
  constexpr CallStates(std::initializer_list<CallState> states) {
    for (const CallState state : states) {
      add(state);
    }
  }
  [[nodiscard]] static constexpr CallStates all() {
    return {CallState::complete, CallState::incomplete, CallState::unwound};
  }

  constexpr void add(CallState state) { bits_ = static_cast<std::uint8_t>(bits_ | bit(state)); }
  constexpr void remove(CallState state) { bits_ = static_cast<std::uint8_t>(bits_ & ~bit(state)); }
  [[nodiscard]] constexpr bool has(CallState state) const { return (bits_ & bit(state)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

  constexpr bool operator==(const CallStates&) const = default;

private:
  static constexpr std::uint8_t bit(CallState state) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(state));
  }

  std::uint8_t bits_ = 0;
};

} // namespace ptlens::stacks
