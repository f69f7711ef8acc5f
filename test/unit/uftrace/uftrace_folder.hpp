// Small folders as uftrace writes them, byte by byte.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace ptlens::uftrace::test {

inline std::string number(std::uint64_t value, std::size_t size = 8) {
  return {reinterpret_cast<const char*>(&value), size};
}

// uftrace.h, struct uftrace_record: time; then type 2 bits, more 1, magic 3, depth 10, address 48.
inline std::string record(std::uint64_t time, unsigned type, unsigned depth, std::uint64_t address,
                          bool more = false) {
  const std::uint64_t fields =
      type | (more ? 4U : 0U) | 5U << 3U | std::uint64_t{depth} << 6U | address << 16U;
  return number(time) + number(fields);
}
inline std::string entry(std::uint64_t time, unsigned depth, std::uint64_t address,
                         bool more = false) {
  return record(time, 0, depth, address, more);
}
inline std::string leave(std::uint64_t time, unsigned depth, std::uint64_t address,
                         bool more = false) {
  return record(time, 1, depth, address, more);
}
inline std::string lost(std::uint64_t count) {
  return record(0, 2, 0, count);
}

struct Header {
  std::string magic = std::string("Ftrace!\0", 8);
  std::uint32_t version = 4;
  std::uint16_t size = 40;
  std::uint8_t byte_order = 1;
  std::uint8_t elf_class = 2;
  std::uint64_t features = 0x3e3;

  [[nodiscard]] std::string bytes() const {
    return magic + number(version, 4) + number(size, 2) + number(byte_order, 1) +
           number(elf_class, 1) + number(features) + number(0) + number(1024);
  }
};

inline constexpr const char* session_id = "0123456789abcdef";

// A folder with one program of one thread, 77. Files may be replaced or removed.
class TestFolder {
public:
  TestFolder() {
    static std::atomic<int> next = 0;
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("ptlens_uftrace_{}_{}", ::getpid(), ++next);
    std::filesystem::create_directories(path_);
    write("info", Header().bytes() + "exename:/bin/program\ncmdline:uftrace record program\n"
                                     "osinfo:hostname=here\nuftrace_version:v0.13\n");
    write("task.txt",
          fmt::format("SESS timestamp=10.000000001 pid=77 sid={} exename=\"/bin/program\"\n"
                      "TASK timestamp=10.000000002 tid=77 pid=77\n",
                      session_id));
    write(fmt::format("sid-{}.map", session_id),
          "560000000000-560000010000 r-xp 00000000 00:00 0   /bin/program build-id:00112233\n"
          "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0   [stack]\n");
    write("77.dat",
          entry(10'000'000'100, 0, 0x560000001000) + leave(10'000'000'200, 0, 0x560000001000));
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  TestFolder(TestFolder&&) = delete;
  TestFolder& operator=(TestFolder&&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(path_ / name, std::ios::binary) << contents;
  }
  void remove(const std::string& name) const { std::filesystem::remove(path_ / name); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

} // namespace ptlens::uftrace::test
