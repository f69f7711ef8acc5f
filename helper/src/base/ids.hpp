// Ids: numbers with a type of their own, so that the compiler keeps the numbers of functions, call
// sites, calls and so on apart. An id is an enum over std::uint32_t with a value `none`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace ptlens {

template <class T>
concept Id = std::is_enum_v<T> && std::same_as<std::underlying_type_t<T>, std::uint32_t> &&
             requires { T::none; };

// Returns the number.
template <Id I>
[[nodiscard]] constexpr std::uint32_t index_of(I id) {
  return static_cast<std::uint32_t>(id);
}

// The ids in [first, last), for loops.
template <Id I>
struct IdRange {
  struct Iterator {
    using value_type = I;
    using difference_type = std::ptrdiff_t;

    I at{};

    constexpr I operator*() const { return at; }
    constexpr Iterator& operator++() {
      at = I{index_of(at) + 1};
      return *this;
    }
    constexpr Iterator operator++(int) { return std::exchange(*this, {I{index_of(at) + 1}}); }
    constexpr bool operator==(const Iterator&) const = default;
  };

  I first{};
  I last{};

  [[nodiscard]] constexpr Iterator begin() const { return {first}; }
  [[nodiscard]] constexpr Iterator end() const { return {last}; }
  [[nodiscard]] constexpr bool has(I id) const { return first <= id && id < last; }
  [[nodiscard]] constexpr std::size_t size() const { return index_of(last) - index_of(first); }
};

// Returns the first `count` ids.
template <Id I>
[[nodiscard]] constexpr IdRange<I> first_ids(std::size_t count) {
  return {I{0}, I{static_cast<std::uint32_t>(count)}};
}

// A vector with an element for each id.
template <Id I, class T>
class IdVector : public std::vector<T> {
public:
  using std::vector<T>::vector;

  [[nodiscard]] decltype(auto) operator[](I id) { return std::vector<T>::operator[](index_of(id)); }
  [[nodiscard]] decltype(auto) operator[](I id) const {
    return std::vector<T>::operator[](index_of(id));
  }
  [[nodiscard]] bool has(I id) const { return index_of(id) < this->size(); }
  // Returns the ids of all elements, and the id that the next element will get.
  [[nodiscard]] IdRange<I> ids() const { return first_ids<I>(this->size()); }
  [[nodiscard]] I next_id() const { return I{static_cast<std::uint32_t>(this->size())}; }
};

} // namespace ptlens
