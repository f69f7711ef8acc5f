#include "record/processes/rights.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <sys/xattr.h>
#include <system_error>

namespace ptlens::record {
namespace {

// Numbers from include/uapi/linux/capability.h.
constexpr unsigned capability_ipc_lock = 14;
constexpr unsigned capability_sys_ptrace = 19;
constexpr unsigned capability_sys_admin = 21;
constexpr unsigned capability_perfmon = 38;

Rights rights_of(std::uint64_t capabilities) {
  const auto has = [capabilities](unsigned bit) { return ((capabilities >> bit) & 1) != 0; };
  Rights rights;
  rights.perfmon = has(capability_perfmon) || has(capability_sys_admin);
  rights.sys_ptrace = has(capability_sys_ptrace);
  rights.ipc_lock = has(capability_ipc_lock);
  return rights;
}

std::string_view field_of(std::string_view status, std::string_view name) {
  std::size_t at = 0;
  while (at < status.size()) {
    const std::size_t end = std::min(status.find('\n', at), status.size());
    const std::string_view line = status.substr(at, end - at);
    if (line.starts_with(name)) {
      return line.substr(name.size());
    }
    at = end + 1;
  }
  return {};
}

// Returns true for the map of the initial user namespace, which maps every number to itself.
bool is_initial_namespace(std::string_view uid_map) {
  std::istringstream text{std::string(uid_map)};
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  constexpr std::uint64_t all = 4'294'967'295;
  return !(text >> inside >> outside >> count) || (inside == 0 && outside == 0 && count == all);
}

std::uint32_t little_endian_32(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[offset + byte]))
             << (8 * byte);
  }
  return value;
}

} // namespace

Rights parse_rights(std::string_view status, std::string_view uid_map) {
  std::string_view hexadecimal = field_of(status, "CapEff:");
  hexadecimal.remove_prefix(std::min(hexadecimal.find_first_not_of(" \t"), hexadecimal.size()));
  std::uint64_t capabilities = 0;
  std::from_chars(hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), capabilities, 16);
  const bool counts = is_initial_namespace(uid_map);
  Rights rights = counts ? rights_of(capabilities) : Rights{};

  std::string_view users = field_of(status, "Uid:"); // real, effective, saved, file system
  const auto skip = [&users](const char* characters) {
    users.remove_prefix(std::min(users.find_first_not_of(characters), users.size()));
  };
  skip(" \t");
  skip("0123456789");
  skip(" \t");
  std::uint32_t effective = 1;
  const auto [end, error] = std::from_chars(users.data(), users.data() + users.size(), effective);
  rights.named_root = error == std::errc{} && effective == 0;
  rights.root = rights.named_root && counts && ((capabilities >> capability_sys_admin) & 1) != 0;
  return rights;
}

Rights parse_file_capabilities(std::string_view attribute) {
  constexpr std::size_t revision_2_size = 20; // magic, two pairs of permitted and inheritable
  if (attribute.size() < revision_2_size) {
    return {};
  }
  constexpr std::uint32_t effective_flag = 1;
  const std::uint32_t magic = little_endian_32(attribute, 0);
  const std::uint32_t revision = magic >> 24;
  if ((revision != 2 && revision != 3) || (magic & effective_flag) == 0) {
    return {};
  }
  const std::uint64_t low = little_endian_32(attribute, 4);
  const std::uint64_t high = little_endian_32(attribute, 12);
  return rights_of(low | high << 32);
}

Rights file_rights(const std::string& path) {
  std::array<char, 64> attribute{};
  const ssize_t size = path.empty() ? -1
                                    : ::getxattr(path.c_str(), "security.capability",
                                                 attribute.data(), attribute.size());
  return size <= 0 ? Rights{}
                   : parse_file_capabilities(
                         std::string_view(attribute.data(), static_cast<std::size_t>(size)));
}

} // namespace ptlens::record
