// The shapes of demangled C++, Rust and Go names, as far as needed to leave out parameters,
// template arguments, return types and clone suffixes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

struct NameShape {
  std::string plain = {};                   // "ns::C::f" of "void ns::C<int>::f<4>(int) const"
  std::vector<std::size_t> components = {}; // start of each "::" component in `plain`, ascending
  std::vector<std::size_t> written = {};    // the same in the full name
  std::size_t parameters = 0; // start of the parameter list in the full name, or the name's end

  [[nodiscard]] std::string_view last() const;
};

[[nodiscard]] NameShape shape_of(std::string_view full);

// Returns other spellings of the same function: "Order::fmt" and "Display::fmt" for Rust's "<Order
// as Display>::fmt", "main.Order.Price" for Go's "main.(*Order).Price".
[[nodiscard]] std::vector<NameShape> other_shapes(std::string_view full);

// Returns NameShape::plain: "ns::f" for "ns::f<int>(int) const [clone .part.0]".
[[nodiscard]] std::string without_parameters(std::string_view full);

// Returns NameShape::last(): "f" for the same name.
[[nodiscard]] std::string last_component(std::string_view full);

// Returns the position after the bracket that closes the one at `open`; the size of the text where
// none does. Recognises "->" and operator names, which contain unpaired brackets.
[[nodiscard]] std::size_t group_end(std::string_view text, std::size_t open);

// Returns the position after the operator's name when "operator+" or the like begins at `at`, else
// `at`.
[[nodiscard]] std::size_t operator_end(std::string_view text, std::size_t at);

} // namespace ptlens::symbols
