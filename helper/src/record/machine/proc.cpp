// What /proc says about processes and about the kernel's settings. Formats: proc(5).
#include "record/machine/proc.hpp"

#include "record/processes/descriptor.hpp"

#include <climits>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::string_view deleted_suffix = " (deleted)";

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) {
    return std::nullopt;
  }
  return value;
}

std::string_view next_field(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end);
  return field;
}

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

} // namespace

std::optional<std::string> read_text(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() < limit) {
    const ssize_t got =
        ::read(file.get(), piece.data(), std::min(piece.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const std::optional<std::string> text = read_text(path, 64);
  return text ? to_number<std::int64_t>(*text) : std::nullopt;
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = next_field(rest);
  const auto parent = to_number<std::int32_t>(next_field(rest));
  const auto skip = [&rest](int fields) {
    for (int field = 0; field < fields; ++field) {
      next_field(rest);
    }
  };
  skip(9); // 5 to 13
  const auto user_time = to_number<std::uint64_t>(next_field(rest));
  const auto kernel_time = to_number<std::uint64_t>(next_field(rest));
  skip(4); // 16 to 19
  const auto threads = to_number<std::uint32_t>(next_field(rest));
  skip(1);
  const auto start_time = to_number<std::uint64_t>(next_field(rest));
  if (state.size() != 1 || !parent || !start_time) {
    return std::nullopt;
  }
  stat.state = state.front();
  stat.parent = *parent;
  stat.start_time = *start_time;
  stat.cpu_time = user_time.value_or(0) + kernel_time.value_or(0);
  stat.threads = threads.value_or(0);
  return stat;
}

std::optional<ProcessStat> process_stat(std::int32_t pid) {
  const std::optional<std::string> text = read_text(fmt::format("/proc/{}/stat", pid));
  return text ? parse_process_stat(*text) : std::nullopt;
}

bool is_running(std::int32_t pid, std::uint64_t start_time) {
  const std::optional<ProcessStat> stat = process_stat(pid);
  return stat && stat->start_time == start_time && stat->state != 'Z' && stat->state != 'X';
}

// Of a number: maps pads its addresses, map_files does not.
static std::string without_zeros(std::string_view digits) {
  return std::string(digits.substr(std::min(digits.find_first_not_of('0'), digits.size())));
}

std::vector<MappedFile> parse_executable_maps(std::string_view text) {
  std::vector<MappedFile> files;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view range = next_field(line);
    const std::string_view permissions = next_field(line);
    next_field(line); // offset
    next_field(line); // device
    next_field(line); // inode
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (permissions.size() < 3 || permissions[2] != 'x' || !line.starts_with('/')) {
      continue;
    }
    MappedFile file;
    file.deleted = line.ends_with(deleted_suffix);
    if (file.deleted) {
      line.remove_suffix(deleted_suffix.size());
    }
    file.path = unescape(line);
    file.range = without_zeros(range.substr(0, range.find('-'))) + "-" +
                 without_zeros(range.substr(std::min(range.find('-') + 1, range.size())));
    if (std::ranges::find(files, file.path, &MappedFile::path) == files.end()) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

Result<std::vector<MappedFile>> mapped_files(std::int32_t pid) {
  const std::string maps = fmt::format("/proc/{}/maps", pid);
  const std::optional<std::string> text = read_text(maps, std::size_t{64} << 20);
  if (!text) {
    if (!process_stat(pid)) {
      return std::unexpected(Error{.kind = Error::Kind::gone,
                                   .message = fmt::format("process {} does not exist", pid),
                                   .file = {},
                                   .offset = {},
                                   .remedy = "pick a running process"});
    }
    return std::unexpected(
        Error{.kind = Error::Kind::no_rights,
              .message = fmt::format("the memory map of process {} may not be read", pid),
              .file = maps,
              .offset = {},
              .remedy = "pick a process of your own user, or run this as root"});
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

std::string link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
}

bool is_system_file(std::string_view path) {
  constexpr std::array<std::string_view, 8> folders = {
      "/usr/lib/", "/lib/", "/lib64/", "/usr/lib64/", "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"};
  return std::ranges::any_of(folders,
                             [path](std::string_view folder) { return path.starts_with(folder); });
}

} // namespace ptlens::record
