#include "record/vdso.hpp"

#include "symbols/elf/own_vdso.hpp"

#include <fstream>
#include <span>

namespace ptlens::record {

Result<void> write_vdso(const std::string& directory) {
  const std::span<const std::byte> code = symbols::own_vdso();
  if (code.empty()) {
    return {}; // a kernel without vdso
  }
  const std::string path = directory + "/" + vdso_name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(code.data()), // NOLINT
             static_cast<std::streamsize>(code.size()));
  file.flush();
  if (!file) {
    return std::unexpected(Error{.message = "the file cannot be written",
                                 .file = path,
                                 .remedy = "check the folder's permissions and free space"});
  }
  return {};
}

} // namespace ptlens::record
