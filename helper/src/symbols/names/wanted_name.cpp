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

WantedName::WantedName(std::string_view name)
    : version_(version_of(name)), name_(without_version(name)) {
  if (version_.starts_with("0x")) { // an address that could not be read
    version_.clear();
    name_ = name;
  }
  if (version_ == "plt") { // as tools name the stub that jumps to the function
    stub_ = name;
    version_.clear();
  }
  constexpr std::string_view scope = "::";
  const std::size_t last = name_.rfind(scope);
  if (last != std::string::npos && last > 0 && is_rust_hash(name_.substr(last + scope.size()))) {
    hash_ = name_.substr(last + scope.size());
    name_.resize(last);
  }
  name = name_;
  packed_ = without_spaces(name);
  if (name.starts_with("_Z") || name.starts_with("_R")) {
    demangled_ = demangle(name);
  }
  if (name.ends_with("}")) {
    called_ = name_ + "::operator()"; // the call operator of a lambda
  }
  last_ = shape_of(name).last();
  is_identifier_ = !last_.empty() && std::ranges::all_of(last_, [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_';
  });
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
  if (!stub_.empty() && demangled == stub_) { // where the function itself is not known
    return match_kinds - 1;
  }
  if (name_.empty() || (!hash_.empty() && rust_hash(linkage_name) != hash_)) {
    return std::nullopt;
  }
  const std::string_view version = version_of(linkage_name);
  if (!version_.empty() && !version.empty() && version != version_) {
    return std::nullopt;
  }
  const auto kind = match_name(demangled, without_version(linkage_name));
  const bool doubtful = version_.empty() ? is_old_version(linkage_name) : version.empty();
  return kind && doubtful ? match_kinds - 1 : kind;
}

std::optional<std::size_t> WantedName::match(std::string_view demangled,
                                             std::span<const std::string> linkage_names) const {
  if (linkage_names.empty()) {
    return match(demangled, std::string_view());
  }
  const std::string_view own = without_version(linkage_names.front());
  std::optional<std::size_t> best;
  for (const std::string& name : linkage_names) {
    const bool same = without_version(name) == own;
    if (!same && !may_match(name)) {
      continue;
    }
    const auto kind = match(same ? demangled : std::string_view(demangle(name)), name);
    if (kind && (!best || *kind < *best)) {
      best = kind;
    }
  }
  return best;
}

bool WantedName::may_match(std::string_view name) const {
  return !is_identifier_ || name.contains(last_);
}

std::optional<std::size_t> WantedName::match_name(std::string_view demangled,
                                                  std::string_view linkage_name) const {
  if (demangled == name_ || linkage_name == name_) {
    return 0;
  }
  if (demangled_.empty() && !may_match(demangled)) {
    return std::nullopt; // most functions
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
  if (!demangled_.empty() && demangled == demangled_) {
    return 3;
  }
  return std::nullopt;
}

} // namespace ptlens::symbols
