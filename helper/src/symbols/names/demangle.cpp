// Demangling by libiberty. Suffixes of clones: GCC's clone_function_name (gcc/cgraphclones.cc).
#include "symbols/names/demangle.hpp"

#include <algorithm>
#include <cstdlib>
#include <libiberty/demangle.h>
#include <memory>
#include <optional>

namespace ptlens::symbols {

namespace {

struct FreeDeleter {
  // libiberty allocates its strings with malloc.
  void operator()(char* text) const { std::free(text); } // NOLINT(cppcoreguidelines-no-malloc)
};

// A name may grow exponentially when it is demangled. A longer name is shown unchanged.
constexpr std::size_t longest_demangled = 16384;

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

std::optional<std::string> demangle_with_libiberty(const std::string& name) {
  if (!name.starts_with('_') || name.size() > longest_demangled) {
    return std::nullopt;
  }
  const std::unique_ptr<char, FreeDeleter> text(
      cplus_demangle(name.c_str(), DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP));
  if (!text) {
    return std::nullopt;
  }
  return std::string(text.get());
}

std::string_view without_llvm_suffix(std::string_view name) {
  constexpr std::string_view mark = ".llvm.";
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || at == 0 ||
      !std::ranges::all_of(name.substr(at + mark.size()), is_digit)) {
    return name;
  }
  return name.substr(0, at);
}

// Returns "f [clone .isra.0] [clone .part.1]" for "f.isra.0.part.1". Other names with dots stay
// unchanged.
std::string spell_clones(std::string_view name) {
  static constexpr std::string_view kinds[] = {".part", ".isra",       ".constprop",
                                               ".cold", ".localalias", ".lto_priv"};
  std::size_t first = std::string_view::npos;
  for (const std::string_view kind : kinds) {
    const std::size_t at = name.find(kind);
    const std::size_t after = at == std::string_view::npos ? at : at + kind.size();
    if (at != std::string_view::npos && at > 0 && (after == name.size() || name[after] == '.')) {
      first = std::min(first, at);
    }
  }
  if (first == std::string_view::npos) {
    return std::string(name);
  }
  std::string spelled(name.substr(0, first));
  std::size_t at = first;
  while (at < name.size()) {
    std::size_t end = name.find('.', at + 1);
    while (end != std::string_view::npos && end + 1 < name.size() && is_digit(name[end + 1])) {
      end = name.find('.', end + 1);
    }
    end = std::min(end, name.size());
    spelled += " [clone ";
    spelled += name.substr(at, end - at);
    spelled += ']';
    at = end;
  }
  return spelled;
}

} // namespace

std::string_view without_version(std::string_view linkage_name) {
  const std::size_t at = linkage_name.find('@');
  return at == std::string_view::npos || at == 0 ? linkage_name : linkage_name.substr(0, at);
}

std::string_view version_of(std::string_view linkage_name) {
  std::string_view version = linkage_name.substr(without_version(linkage_name).size());
  version.remove_prefix(std::min(version.find_first_not_of('@'), version.size()));
  return version;
}

bool is_old_version(std::string_view linkage_name) {
  const std::string_view version = linkage_name.substr(without_version(linkage_name).size());
  return version.starts_with('@') && !version.starts_with("@@");
}

std::string_view rust_hash(std::string_view linkage_name) {
  constexpr std::string_view length = "17"; // of "h" and 16 digits
  constexpr std::size_t hash_size = 17;
  const std::string_view name = without_llvm_suffix(without_version(linkage_name));
  if (!name.starts_with("_ZN") || !name.ends_with('E') ||
      name.size() < hash_size + length.size() + 1) {
    return {};
  }
  const std::string_view hash = name.substr(name.size() - 1 - hash_size, hash_size);
  const bool counted =
      name.substr(name.size() - 1 - hash_size - length.size(), length.size()) == length;
  return counted && is_rust_hash(hash) ? hash : std::string_view{};
}

bool is_rust_hash(std::string_view text) {
  constexpr std::size_t hash_size = 17;
  return text.size() == hash_size && text.starts_with('h') &&
         text.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

std::string demangle(std::string_view linkage_name) {
  const std::string_view name = without_llvm_suffix(without_version(linkage_name));
  if (std::optional<std::string> text = demangle_with_libiberty(std::string(name))) {
    return *std::move(text);
  }
  return spell_clones(name);
}

bool is_clone(std::string_view demangled_name) {
  return demangled_name.contains(" [clone .");
}

std::string_view owner_of_cold_part(std::string_view linkage_name) {
  std::string_view name = linkage_name;
  constexpr std::string_view mark = ".cold";
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || at == 0) {
    return {};
  }
  std::string_view rest = name.substr(at + mark.size());
  if (rest.starts_with('.') && rest.size() > 1) {
    rest.remove_prefix(1);
  } else if (!rest.empty()) {
    return {};
  }
  return std::ranges::all_of(rest, is_digit) ? name.substr(0, at) : std::string_view{};
}

CopyName copy_of(std::string_view linkage_name) {
  static constexpr std::string_view copies[] = {".isra.", ".constprop.", ".specialized."};
  static constexpr std::string_view parts[] = {".part.", ".cold.", ".cold"};
  std::size_t first = std::string_view::npos;
  bool part = false;
  const auto look_for = [&](std::string_view mark) {
    const std::size_t at = linkage_name.find(mark);
    if (at == std::string_view::npos || at == 0) {
      return false;
    }
    const std::size_t after = at + mark.size();
    const bool numbered = after < linkage_name.size() && is_digit(linkage_name[after]);
    if (mark.ends_with('.') ? !numbered : after != linkage_name.size()) {
      return false;
    }
    first = std::min(first, at);
    return true;
  };
  for (const std::string_view mark : copies) {
    static_cast<void>(look_for(mark));
  }
  for (const std::string_view mark : parts) {
    part = look_for(mark) || part;
  }
  return first == std::string_view::npos
             ? CopyName{}
             : CopyName{.original = linkage_name.substr(0, first), .part = part};
}

} // namespace ptlens::symbols
