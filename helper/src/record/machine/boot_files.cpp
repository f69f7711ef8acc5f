#include "record/machine/boot_files.hpp"

#include "base/user_cache.hpp"
#include "record/processes/files.hpp"

#include <algorithm>
#include <sys/utsname.h>

namespace ptlens::record {

BootedKernel booted_kernel() {
  utsname system{};
  BootedKernel kernel;
  kernel.boot_id = read_text("/proc/sys/kernel/random/boot_id").value_or("");
  kernel.boot_id.resize(std::min(kernel.boot_id.find('\n'), kernel.boot_id.size()));
  kernel.release = ::uname(&system) == 0 ? system.release : "";
  return kernel;
}

std::string file_of_boot(const std::string& name) {
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/" + name;
}

} // namespace ptlens::record
