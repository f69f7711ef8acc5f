// The permissions of a process that recording needs: capabilities(7), user_namespaces(7).
#pragma once

#include <string>
#include <string_view>

namespace ptlens::record {

// Only capabilities in the initial user namespace count, because the kernel requires those.
struct Rights {
  bool root = false;       // effective user 0 with CAP_SYS_ADMIN
  bool perfmon = false;    // CAP_PERFMON or CAP_SYS_ADMIN
  bool sys_ptrace = false; // CAP_SYS_PTRACE
  bool ipc_lock = false;   // CAP_IPC_LOCK: perf buffers of any size
  bool named_root = false; // user 0, with or without capabilities
};

// Returns the rights in the text of /proc/PID/status (fields Uid and CapEff), in the user namespace
// of the text of /proc/PID/uid_map. An empty uid_map is the initial namespace.
[[nodiscard]] Rights parse_rights(std::string_view status, std::string_view uid_map = {});

// Returns the rights that the extended attribute security.capability of a program gives to its
// users (struct vfs_cap_data of include/uapi/linux/capability.h). Invalid data gives none.
[[nodiscard]] Rights parse_file_capabilities(std::string_view attribute);

// Returns the rights of a program file, or none when it does not have the attribute.
[[nodiscard]] Rights file_rights(const std::string& path);

} // namespace ptlens::record
