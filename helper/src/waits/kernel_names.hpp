// The names of kernel functions, by address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptlens::waits {

class KernelNames {
public:
  KernelNames() = default;
  // Takes the first addresses of functions, ascending, and their names.
  explicit KernelNames(std::vector<std::pair<std::uint64_t, std::string>> symbols)
      : symbols_(std::move(symbols)) {}

  [[nodiscard]] bool empty() const { return symbols_.empty(); }
  // Returns the name of the last function that begins at or before the address; empty where there
  // is none.
  [[nodiscard]] std::string_view at(std::uint64_t address) const;

private:
  std::vector<std::pair<std::uint64_t, std::string>> symbols_;
};

} // namespace ptlens::waits
