// /proc/PID/maps, line by line: "start-end perms offset major:minor inode path" (proc(5)).
#include "code/mappings.hpp"

#include <fmt/format.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sys/mman.h>

namespace ptlens::ptsim {
namespace {

bool parse(const std::string& line, Mapping& mapping) {
  char permissions[5] = {};
  int path_at = 0;
  const int fields =
      std::sscanf(line.c_str(),
                  "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
                  &mapping.start, &mapping.end, permissions, &mapping.file_offset,
                  &mapping.device_major, &mapping.device_minor, &mapping.inode, &path_at);
  if (fields != 7 || permissions[2] != 'x') {
    return false;
  }
  mapping.protection = PROT_EXEC;
  mapping.protection |= permissions[0] == 'r' ? PROT_READ : 0;
  mapping.protection |= permissions[1] == 'w' ? PROT_WRITE : 0;
  mapping.flags = permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  mapping.path = line.substr(static_cast<std::size_t>(path_at));
  if (mapping.path.empty()) {
    mapping.path = "//anon";
  }
  return mapping.path != "[vsyscall]";
}

} // namespace

Result<std::vector<Mapping>> executable_mappings(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/maps", pid);
  std::ifstream file(path);
  if (!file) {
    return std::unexpected(
        Error{.kind = Error::Kind::gone, .message = "the process has gone", .file = path});
  }
  std::vector<Mapping> mappings;
  for (std::string line; std::getline(file, line);) {
    Mapping mapping;
    if (parse(line, mapping)) {
      mappings.push_back(std::move(mapping));
    }
  }
  return mappings;
}

} // namespace ptlens::ptsim
