// Finds the function and the binary of an address in the traced process.
#pragma once

#include "code/mappings.hpp"
#include "code/symbol_table.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptlens::ptsim {

struct Place {
  std::string binary;      // path as mapped; "[unknown]" where nothing is mapped
  std::string symbol;      // empty where the binary names no function there
  std::uint64_t entry = 0; // of the function, address in the process; the address itself without
  std::uint64_t elf_address = 0; // of the function's entry, as nm prints it
  bool at_entry = false;         // the address is the entry of a named function
  bool stub = false;             // a PLT stub
};

class Places {
public:
  // The mappings of the process are now these. `vdso` is its image, may be empty.
  void set_mappings(std::vector<Mapping> mappings, std::vector<std::byte> vdso);
  [[nodiscard]] const std::vector<Mapping>& mappings() const { return mappings_; }

  // Valid until the next set_mappings.
  [[nodiscard]] const Place& at(std::uint64_t address);

  // Address in the process of the function of that name, or ELF address, in the binary; 0: none.
  [[nodiscard]] std::uint64_t find(const std::string& binary, const std::string& symbol);
  [[nodiscard]] std::uint64_t find(const std::string& binary, std::uint64_t elf_address);

  [[nodiscard]] const SymbolTable& symbols(const std::string& path);

private:
  std::vector<Mapping> mappings_; // by address
  std::vector<std::byte> vdso_;
  std::map<std::string, std::shared_ptr<SymbolTable>> tables_; // shared by copies
  std::unordered_map<std::uint64_t, Place> known_;
};

} // namespace ptlens::ptsim
