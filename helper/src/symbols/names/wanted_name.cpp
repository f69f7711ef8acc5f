// Four kinds of match, tried from the best to the worst.
#include "symbols/names/wanted_name.hpp"

#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <functional>

namespace ptlens::symbols {

namespace {

std::string without_spaces(std::string_view text) {
  std::string packed(text);
  std::erase(packed, ' ');
  return packed;
}

} // namespace

WantedName::WantedName(std::string_view name) : name_(name), packed_(without_spaces(name)) {
  if (name.starts_with("_Z") || name.starts_with("_R")) {
    demangled_ = demangle(name);
  }
  if (name.ends_with("}")) {
    called_ = name_ + "::operator()"; // the call operator of a lambda
  }
  last_ = shape_of(name).last();
}

std::optional<std::size_t> WantedName::match_shape(std::string_view plain,
                                                   std::span<const std::size_t> components) const {
  for (const std::string& name : {std::cref(name_), std::cref(called_)}) {
    if (name.empty() || !plain.ends_with(name)) {
      continue;
    }
    if (plain.size() == name.size()) {
      return 1;
    }
    if (std::ranges::binary_search(components, plain.size() - name.size())) {
      return 2;
    }
  }
  return std::nullopt;
}

// Matches a name with parameters or template arguments, which must be equal except for spaces:
// "f(int,int)" and "f<int>" match "ns::f<int>(int, int)".
std::optional<std::size_t> WantedName::match_written(std::string_view demangled,
                                                     const NameShape& shape) const {
  if (shape.last() != last_) {
    return std::nullopt;
  }
  for (std::size_t component = 0; component < shape.written.size(); ++component) {
    const std::size_t begin = shape.written[component];
    if (begin > shape.parameters || begin > demangled.size()) {
      break;
    }
    if (without_spaces(demangled.substr(begin)) == packed_ ||
        without_spaces(demangled.substr(begin, shape.parameters - begin)) == packed_) {
      return component == 0 ? 0 : 2;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> WantedName::match(std::string_view demangled,
                                             std::string_view linkage_name) const {
  if (name_.empty()) {
    return std::nullopt;
  }
  if (demangled == name_) {
    return 0;
  }
  const NameShape shape = shape_of(demangled);
  if (const auto kind = match_shape(shape.plain, shape.components)) {
    return kind;
  }
  if (demangled.starts_with('<') || demangled.contains(".(*")) {
    for (const NameShape& other : other_shapes(demangled)) {
      if (match_shape(other.plain, other.components)) {
        return 2;
      }
    }
  }
  if (packed_.find_first_of("(<[") != std::string::npos) {
    if (const auto kind = match_written(demangled, shape)) {
      return kind;
    }
  }
  if (linkage_name == name_ || (!demangled_.empty() && demangled == demangled_)) {
    return 3;
  }
  return std::nullopt;
}

} // namespace ptlens::symbols
