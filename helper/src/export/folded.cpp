// Folded stacks.
#include "export/folded.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ptlens::exporting {

namespace {

std::string frame_name(const measure::Measurement& measurement, stacks::FunctionId function) {
  std::string name = measure::frame_function(measurement, function).name;
  if (name.empty()) {
    return "[unknown]";
  }
  for (char& character : name) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == ';') {
      character = ':';
    } else if (byte < 0x20 || byte == 0x7f) {
      character = ' ';
    }
  }
  return name;
}

} // namespace

void write_folded(std::ostream& out, const measure::Measurement& measurement,
                  const measure::FlameTree& tree) {
  std::vector<std::uint32_t> path;
  for (std::uint32_t node = 1; node < tree.size(); ++node) {
    if (tree.self[node] == 0) {
      continue;
    }
    path.clear();
    for (std::uint32_t at = node; at != 0; at = tree.parent[at]) {
      path.push_back(at);
    }
    std::ranges::reverse(path);
    const char* separator = "";
    for (const std::uint32_t at : path) {
      out << separator << frame_name(measurement, tree.function[at]);
      separator = ";";
    }
    out << ' ' << tree.self[node] << '\n';
  }
}

} // namespace ptlens::exporting
