#include "uftrace/session_map.hpp"

#include "uftrace/text_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace ptlens::uftrace {
namespace {

constexpr std::size_t most_modules = 65'536; // Linux allows a process 65,530 mappings

// Reads "START-END PERMISSIONS OFFSET DEVICE INODE PATH [build-id:DIGITS]".
std::optional<Module> read_module(std::string_view text) {
  Scanner line(text);
  Module module;
  const auto start = line.number<std::uint64_t>(16);
  const auto end = start && line.skip("-") ? line.number<std::uint64_t>(16) : std::nullopt;
  if (!end || *end <= *start) {
    return std::nullopt;
  }
  for (int field = 0; field < 4; ++field) {
    line.skip_spaces();
    if (line.word().empty()) {
      return std::nullopt;
    }
  }
  line.skip_spaces();
  constexpr std::string_view id_prefix = " build-id:";
  std::string_view path = line.rest();
  if (const std::size_t at = path.rfind(id_prefix); at != std::string_view::npos) {
    module.build_id = build_id_of(path.substr(at + id_prefix.size()));
    path = path.substr(0, at);
  }
  while (path.ends_with(' ')) {
    path.remove_suffix(1);
  }
  module.start = *start;
  module.end = *end;
  module.path = path;
  return module.path.empty() ? std::nullopt : std::optional(std::move(module));
}

} // namespace

std::vector<std::uint8_t> build_id_of(std::string_view digits) {
  constexpr std::size_t most_bytes = 20;
  std::vector<std::uint8_t> bytes;
  for (std::size_t at = 0; at + 1 < digits.size() && bytes.size() < most_bytes; at += 2) {
    std::uint8_t byte = 0;
    const char* const begin = digits.data() + at;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) {
      break;
    }
    bytes.push_back(byte);
  }
  return bytes;
}

Result<std::vector<Module>> read_session_map(const std::string& path) {
  const auto text = read_text(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  std::vector<Module> modules;
  std::optional<Error> error;
  each_line(*text, [&](std::string_view line, std::size_t offset) {
    auto module = read_module(line);
    if (!module || modules.size() == most_modules) {
      constexpr std::size_t shown = 80;
      error = damaged(path, offset,
                      module ? "the file lists more modules than a process can have"
                             : fmt::format("this line cannot be read: {}", line.substr(0, shown)));
      return false;
    }
    if (module->path.starts_with('[')) { // the stack
      return true;
    }
    if (!modules.empty() && modules.back().path == module->path &&
        modules.back().end <= module->start) {
      modules.back().end = module->end; // a further segment
    } else {
      modules.push_back(std::move(*module));
    }
    return true;
  });
  if (error) {
    return std::unexpected(*error);
  }
  return modules;
}

} // namespace ptlens::uftrace
