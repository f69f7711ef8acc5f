// A path opens the mapped file if device and inode are those of /proc/PID/map_files/RANGE, which
// requires CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE, or of /proc/PID/exe. See proc(5). Where neither
// can be read, the inode number of /proc/PID/maps decides, and the name where no number is equal.
#include "record/processes/process_files.hpp"

#include "record/processes/files.hpp"
#include "record/processes/process_stat.hpp"

#include <fmt/format.h>

#include <optional>
#include <sys/stat.h>
#include <utility>

namespace ptlens::record {
namespace {

struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

std::optional<Identity> identity_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return Identity{.device = status.st_dev, .inode = status.st_ino};
}

// Returns the paths to try, the most lasting first.
std::vector<std::string> candidates(std::int32_t pid, const MappedFile& file) {
  const std::string root = root_of(pid);
  if (root.empty()) {
    return {file.path};
  }
  std::vector<std::string> paths = {file.path, root + file.path};
  // In a chroot of our own mounts, the kernel prints paths from our root.
  const std::string folder = link_target(root);
  if (folder.size() > 1 && file.path.starts_with(folder + "/")) {
    paths.push_back(root + file.path.substr(folder.size()));
  }
  return paths;
}

} // namespace

std::string reachable_path(std::int32_t pid, const MappedFile& file, bool is_executable) {
  const std::string mapped = fmt::format("/proc/{}/map_files/{}", pid, file.range);
  const std::string executable = fmt::format("/proc/{}/exe", pid);
  const auto by_map = identity_of(mapped);
  const auto by_link = is_executable && !by_map ? identity_of(executable) : std::nullopt;
  const auto wanted = by_map ? by_map : by_link;
  std::string of_same_name; // the one nearest to the process
  for (const std::string& path : candidates(pid, file)) {
    const auto found = identity_of(path);
    if (found && (wanted ? *found == *wanted : found->inode == file.inode)) {
      return path;
    }
    of_same_name = found ? path : of_same_name;
  }
  if (by_map) {
    return mapped;
  }
  if (by_link) {
    return executable;
  }
  // Some file systems show two inode numbers for one file (overlayfs).
  return file.deleted ? std::string() : of_same_name;
}

Result<std::vector<ProcessFile>> process_files(std::int32_t pid) {
  const auto mapped = mapped_files(pid);
  if (!mapped) {
    return std::unexpected(mapped.error());
  }
  const auto stat = mapped->empty() ? process_stat(pid) : std::nullopt;
  if (stat && stat->runs()) {
    return std::unexpected(Error{
        .kind = Error::Kind::unsupported,
        .message = fmt::format("process {} is a thread of the kernel: it runs no program, and "
                               "so no function that can be measured",
                               pid),
        .remedy = "choose another process"});
  }
  std::vector<ProcessFile> files;
  files.reserve(mapped->size());
  for (const MappedFile& file : *mapped) {
    files.push_back({.path = file.path, .open_path = reachable_path(pid, file, files.empty())});
  }
  return files;
}

} // namespace ptlens::record
