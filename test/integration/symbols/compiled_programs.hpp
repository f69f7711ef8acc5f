// Small programs, compiled for the tests of symbols/, and the output of binutils for them.
#pragma once

#include "support/run_command.hpp"
#include "symbols/binary.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ptlens::symbols::test {

using ptlens::test::has_command;
using ptlens::test::run_command;

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ptlens-symbols-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) {
      path_ = name;
    }
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
    return (path_ / name).string();
  }
  std::string write(std::string_view name, std::string_view text) const {
    const std::string path = *this / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    // ext4 writes a file that was truncated to the disk when it is closed; a new one can wait.
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // Compiles `source` to the program `name`. The options may begin with another compiler.
  [[nodiscard]] std::string compile(std::string_view name, std::string_view source,
                                    std::vector<std::string> options) const {
    const std::string input = write(std::string(name) + ".cpp", source);
    const std::string output = *this / name;
    if (options.empty() || options.front().starts_with('-')) {
      options.insert(options.begin(), "g++");
    }
    options.insert(options.end(), {"-o", output, input});
    EXPECT_EQ(run_command(options).status, 0) << "compiling " << name;
    return output;
  }

private:
  std::filesystem::path path_;
};

inline std::shared_ptr<const Binary> open_binary(const std::string& path) {
  Result<std::shared_ptr<const Binary>> binary = Binary::open(path);
  if (!binary) {
    ADD_FAILURE() << binary.error().one_line();
    return nullptr;
  }
  return *binary;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

struct NmSymbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0; // 0 where nm prints none
  char type = '?';
  std::string name;
};

// Returns the code symbols that nm lists.
inline std::vector<NmSymbol> nm(const std::string& path, bool dynamic = false) {
  std::vector<NmSymbol> symbols;
  std::vector<std::string> command = {"nm", "-S", "--defined-only", path};
  if (dynamic) {
    command.insert(command.begin() + 1, "-D");
  }
  for (const std::string& line : lines_of(run_command(command).output)) {
    // "ADDRESS [SIZE] TYPE NAME"
    std::istringstream fields(line);
    std::string address;
    std::string size;
    std::string type;
    fields >> address >> size;
    if (size.size() > 1) {
      fields >> type;
    } else {
      type = std::exchange(size, "0");
    }
    std::string name;
    std::getline(fields >> std::ws, name);
    constexpr std::string_view code_types = "tTwWi";
    // SystemTap's marker is a weak object in a section of its own.
    if (type.size() == 1 && code_types.contains(type) && name != "_.stapsdt.base") {
      symbols.push_back({.address = std::stoull(address, nullptr, 16),
                         .size = std::stoull(size, nullptr, 16),
                         .type = type[0],
                         .name = name});
    }
  }
  return symbols;
}

struct DisassembledLine {
  std::uint64_t address = 0;
  std::string text;                    // "call   401136 <f>"
  std::string mnemonic;                // without prefixes
  std::optional<std::uint64_t> target; // of direct calls and jumps
  std::string function;                // the label above it
};

// Returns the code of one section, or all code, from objdump -d. Parsed by hand, because std::regex
// takes minutes for a large program.
inline std::vector<DisassembledLine> objdump(const std::string& path,
                                             const std::string& section = {}) {
  std::vector<DisassembledLine> found;
  std::string function;
  std::vector<std::string> command = {"objdump", "-d", "--no-show-raw-insn", path};
  if (!section.empty()) {
    command.insert(command.end(), {"-j", section});
  }
  for (const std::string& line : lines_of(run_command(command).output)) {
    const std::size_t tab = line.find(":\t");
    if (line.ends_with(">:")) {
      const std::size_t open = line.find('<');
      function = line.substr(open + 1, line.size() - open - 3);
    }
    if (tab == std::string::npos) {
      continue;
    }
    DisassembledLine instruction{.address = std::stoull(line, nullptr, 16),
                                 .text = line.substr(tab + 2),
                                 .mnemonic = {},
                                 .target = {},
                                 .function = function};
    instruction.text.erase(instruction.text.find_last_not_of(' ') + 1);
    static const std::set<std::string> prefixes = {"bnd", "notrack", "repz",
                                                   "rep", "repnz",   "lock"};
    std::istringstream words(instruction.text);
    while (words >> instruction.mnemonic && prefixes.contains(instruction.mnemonic)) {
    }
    std::string operand;
    std::string label;
    if (instruction.mnemonic.starts_with('j') || instruction.mnemonic == "call") {
      words >> operand >> label;
      if (label.starts_with('<') && !operand.starts_with('*')) {
        instruction.target = std::stoull(operand, nullptr, 16);
      }
    }
    found.push_back(std::move(instruction));
  }
  return found;
}

inline std::uint64_t address_of(const std::string& path, std::string_view name) {
  for (const NmSymbol& symbol : nm(path)) {
    if (symbol.name == name) {
      return symbol.address;
    }
  }
  ADD_FAILURE() << "nm lists no " << name << " in " << path;
  return 0;
}

// Returns the only function with the name.
inline const Function* function_named(const Binary& binary, std::string_view name) {
  const std::vector<std::uint32_t> found = binary.find(name);
  if (found.size() != 1) {
    ADD_FAILURE() << found.size() << " functions match " << name;
    return nullptr;
  }
  return &binary.functions()[found.front()];
}

// A program with most of what compilers generate: templates, a virtual call, recursion, a switch,
// an exception, calls into libc and libstdc++. It has few headers because it is compiled dozens of
// times.
inline constexpr std::string_view mixed_program = R"(
#include <cstdio>
#include <cstdlib>
namespace shop {
struct Item { virtual ~Item() = default; virtual int price() const = 0; };
struct Book : Item { int price() const override { return 7; } };
struct Pen : Item { int price() const override { return 2; } };
struct Refusal { const char* reason; };
template <class T> __attribute__((noinline)) T twice(T value) { return value + value; }
__attribute__((noinline)) int checked(int value) {
  if (value < 0) {
    throw Refusal{"negative"};
  }
  return value * 3;
}
__attribute__((noinline)) int pick(int kind) {
  switch (kind) {
  case 0: return std::puts("zero");
  case 1: return std::printf("one %d\n", kind);
  case 2: return std::puts("two") + 5;
  case 3: return std::puts("three") * 9;
  case 4: return kind * std::puts("four");
  case 5: return std::puts("five") - 8;
  case 6: return std::puts("six") ^ 3;
  default: return kind;
  }
}
__attribute__((noinline)) int order(const void* one, const void* other) {
  return *static_cast<const int*>(one) - *static_cast<const int*>(other);
}
}
static __attribute__((noinline)) long fibonacci(long n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
int main(int argc, char** argv) {
  shop::Item* items[] = {new shop::Book, new shop::Pen};
  int prices[2] = {};
  int sum = 0;
  for (int at = 0; at < 2; ++at) {
    prices[at] = items[at]->price();
    sum += prices[at];
  }
  std::qsort(prices, 2, sizeof(int), shop::order);
  try {
    sum += shop::checked(argc - 2);
  } catch (const shop::Refusal& refusal) {
    std::puts(refusal.reason);
  }
  sum += shop::twice(argc) + static_cast<int>(shop::twice(2.5)) + shop::pick(argc);
  std::printf("%s %d %ld\n", argv[0], sum, fibonacci(argc + 10));
  for (shop::Item* item : items) {
    delete item;
  }
  return 0;
}
)";

} // namespace ptlens::symbols::test
