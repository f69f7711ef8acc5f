// A folder for one test, removed with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace ptlens::record::test {

class TemporaryFolder {
public:
  explicit TemporaryFolder(std::string_view name = "ptlens-record") {
    std::string pattern =
        (std::filesystem::temp_directory_path() / std::string(name)).string() + "-XXXXXX";
    path_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

private:
  std::string path_;
};

} // namespace ptlens::record::test
