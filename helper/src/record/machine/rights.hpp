// What a process may do, as far as measuring needs it: capabilities(7), user_namespaces(7).
#pragma once

#include <string>
#include <string_view>

namespace ptlens::record {

// Capabilities of a user namespace other than the machine's own count for nothing here: the kernel
// asks for those of the first namespace.
struct Rights {
  bool root = false;       // effective user 0 with CAP_SYS_ADMIN
  bool perfmon = false;    // CAP_PERFMON or CAP_SYS_ADMIN
  bool sys_ptrace = false; // CAP_SYS_PTRACE
  bool ipc_lock = false;   // CAP_IPC_LOCK: perf buffers of any size
  bool named_root = false; // user 0, whatever that is worth here
};

// The rights that the text of /proc/PID/status gives (fields Uid and CapEff), in the user namespace
// of that /proc/PID/uid_map; empty: the first.
[[nodiscard]] Rights parse_rights(std::string_view status, std::string_view uid_map = {});

// The rights that the extended attribute security.capability of a file gives to who runs it
// (struct vfs_cap_data of include/uapi/linux/capability.h). Bad data gives none.
[[nodiscard]] Rights parse_file_capabilities(std::string_view attribute);

// The same of a file; none where it has no such attribute.
[[nodiscard]] Rights file_rights(const std::string& path);

} // namespace ptlens::record
