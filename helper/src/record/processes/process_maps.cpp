#include "record/processes/process_maps.hpp"

#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"
#include "record/processes/process_stat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::string_view deleted_suffix = " (deleted)";

// The kernel writes a newline in a path as \012.
std::string unescape(std::string_view path) {
  constexpr std::string_view newline = "\\012";
  std::string plain(path);
  for (std::size_t at = plain.find(newline); at != std::string::npos;
       at = plain.find(newline, at + 1)) {
    plain.replace(at, newline.size(), "\n");
  }
  return plain;
}

// One line of /proc/PID/maps: "start-end perms offset major:minor inode path".
struct MapsLine {
  std::uint64_t start = 0;
  std::uint64_t end = 0; // exclusive
  bool executable = false;
  std::uint64_t inode = 0;
  bool deleted = false;
  std::string path = {}; // of a file, or a name such as "[vdso]"; empty: anonymous memory
};

// Returns nothing for a line in another format.
std::optional<MapsLine> parse_maps_line(std::string_view line) {
  const std::string_view range = next_field(line);
  const std::size_t dash = range.find('-');
  const std::string_view permissions = next_field(line);
  if (dash == std::string_view::npos || permissions.size() < 3) {
    return std::nullopt;
  }
  const auto start = to_number<std::uint64_t>(range.substr(0, dash), 16);
  const auto end = to_number<std::uint64_t>(range.substr(dash + 1), 16);
  if (!start || !end) {
    return std::nullopt;
  }
  next_field(line); // offset
  next_field(line); // device
  const auto inode = to_number<std::uint64_t>(next_field(line));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  MapsLine mapping{.start = *start,
                   .end = *end,
                   .executable = permissions[2] == 'x',
                   .inode = inode.value_or(0),
                   .deleted = line.ends_with(deleted_suffix)};
  line.remove_suffix(mapping.deleted ? deleted_suffix.size() : 0);
  mapping.path = unescape(line);
  return mapping;
}

// Returns the lines that map files, in the order of the text.
std::vector<MapsLine> parse_maps(std::string_view text) {
  std::vector<MapsLine> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    auto line = parse_maps_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line && line->path.starts_with('/')) {
      lines.push_back(std::move(*line));
    }
  }
  return lines;
}

} // namespace

std::vector<MappedFile> parse_executable_maps(std::string_view text) {
  std::vector<MappedFile> files;
  for (MapsLine& line : parse_maps(text)) {
    if (line.executable && std::ranges::find(files, line.path, &MappedFile::path) == files.end()) {
      files.push_back({.path = std::move(line.path),
                       .deleted = line.deleted,
                       .range = fmt::format("{:x}-{:x}", line.start, line.end),
                       .inode = line.inode});
    }
  }
  return files;
}

std::vector<MappedRange> parse_file_ranges(std::string_view text) {
  std::vector<MappedRange> ranges;
  for (MapsLine& line : parse_maps(text)) {
    ranges.push_back({.start = line.start, .end = line.end, .path = std::move(line.path)});
  }
  return ranges;
}

Result<std::vector<MappedFile>> mapped_files(std::int32_t pid) {
  const std::string maps = fmt::format("/proc/{}/maps", pid);
  const std::optional<std::string> text = read_text(maps, longest_maps);
  if (!text) {
    if (!process_stat(pid)) {
      return std::unexpected(process_is_gone(pid));
    }
    return std::unexpected(Error{
        .kind = Error::Kind::no_rights,
        .message =
            fmt::format("the memory map of process {} cannot be read: permission denied", pid),
        .file = maps,
        .remedy = ::geteuid() == 0
                      ? "even root may not read this one: the kernel protects it, or a security "
                        "policy (Yama, SELinux, AppArmor, a container). Choose another process"
                      : "choose a process of your own user, or run the same command with sudo"});
  }
  std::vector<MappedFile> files = parse_executable_maps(*text);
  std::string executable = link_target(fmt::format("/proc/{}/exe", pid));
  if (executable.ends_with(deleted_suffix)) {
    executable.resize(executable.size() - deleted_suffix.size());
  }
  const auto found = std::ranges::find(files, executable, &MappedFile::path);
  if (found != files.end()) {
    std::rotate(files.begin(), found, found + 1);
  }
  return files;
}

std::string root_of(std::int32_t pid) {
  const std::string theirs = fmt::format("/proc/{}/", pid);
  const std::string their_root = link_target(theirs + "root");
  const std::string our_root = link_target("/proc/self/root");
  const std::string their_mounts = link_target(theirs + "ns/mnt");
  const std::string our_mounts = link_target("/proc/self/ns/mnt");
  const bool same_root = their_root.empty() || their_root == our_root;
  const bool same_mounts = their_mounts.empty() || their_mounts == our_mounts;
  return same_root && same_mounts ? std::string() : theirs + "root";
}

bool is_system_file(std::string_view path) {
  constexpr std::array<std::string_view, 8> folders = {
      "/usr/lib/", "/lib/", "/lib64/", "/usr/lib64/", "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"};
  return std::ranges::any_of(folders,
                             [path](std::string_view folder) { return path.starts_with(folder); });
}

} // namespace ptlens::record
