// Assembles binaries for tests. Only the addresses of their functions matter, not the code.
#pragma once

#include "support/run_command.hpp"
#include "symbols/binary.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>

namespace ptlens::test {

// Assembles the text. The tables and the code of the binary are read, because the file is deleted.
// Returns null where the assembler fails.
inline std::shared_ptr<const symbols::Binary>
assembled(const std::string& name, const std::string& text, const std::string& entry) {
  const std::string folder = PTLENS_BUILD_DIR "/samples/stacks/" + name;
  std::filesystem::create_directories(folder);
  const std::string source = fmt::format("{}/{}.{}.s", folder, name, ::getpid());
  const std::string program = source + ".out";
  std::ofstream(source) << text;
  const int status =
      run_command({"gcc", "-nostdlib", "-static", "-Wl,-e," + entry, "-o", program, source}).status;
  const auto opened = symbols::Binary::open(program);
  if (status != 0 || !opened) {
    return nullptr;
  }
  const symbols::Function& first = (*opened)->functions().front();
  static_cast<void>((*opened)->code_at(first.address));
  static_cast<void>((*opened)->call_before(first.address + 1));
  std::filesystem::remove(source);
  std::filesystem::remove(program);
  return *opened;
}

} // namespace ptlens::test
