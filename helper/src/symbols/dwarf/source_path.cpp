// Source paths are compared by their ends, because the editor's folder and the build's folder often
// differ.
#include "symbols/dwarf/source_path.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace ptlens::symbols {

namespace {

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::filesystem::path& part : std::filesystem::path(path).lexically_normal()) {
    const std::string text = part.string();
    if (!text.empty() && text != "." && text != "/") {
      parts.push_back(text);
    }
  }
  return parts;
}

} // namespace

std::string normal_path(const std::string& path, const std::string& folder) {
  if (!path.starts_with('/') && folder.starts_with('/')) {
    return normal_path(folder + "/" + path, {});
  }
  if (!path.contains("/.") && !path.contains("//") && !path.starts_with("./")) {
    return path;
  }
  return std::filesystem::path(path).lexically_normal().string();
}

bool same_source(std::string_view one, std::string_view other) {
  constexpr std::size_t npos = std::string_view::npos;
  const std::size_t one_name = one.rfind('/');
  const std::size_t other_name = other.rfind('/');
  if (one.substr(one_name == npos ? 0 : one_name + 1) !=
      other.substr(other_name == npos ? 0 : other_name + 1)) {
    return false;
  }
  const std::vector<std::string> ours = components(one);
  const std::vector<std::string> theirs = components(other);
  if (ours.empty() || theirs.empty()) {
    return false;
  }
  auto our = ours.rbegin();
  auto their = theirs.rbegin();
  while (our != ours.rend() && their != theirs.rend()) {
    if (*our++ != *their++) {
      return false;
    }
  }
  return true;
}

} // namespace ptlens::symbols
