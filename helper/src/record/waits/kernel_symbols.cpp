#include "record/waits/kernel_symbols.hpp"

#include "symbols/elf/kallsyms.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <linux/perf_event.h>
#include <set>
#include <string>

namespace ptlens::record {
namespace {

// Returns the addresses of the kernel's code in all stacks.
std::set<std::uint64_t> kernel_addresses(const perfdata::Recording& recording) {
  std::set<std::uint64_t> addresses;
  recording.each_sample([&](const perfdata::Sample& sample) {
    bool in_kernel = false;
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= sample.chain.size();
         at += sizeof(std::uint64_t)) {
      std::uint64_t value = 0;
      std::memcpy(&value, sample.chain.data() + at, sizeof value);
      if (value >= PERF_CONTEXT_MAX) {
        in_kernel = value == PERF_CONTEXT_KERNEL;
      } else if (in_kernel) {
        addresses.insert(value);
      }
    }
    return true;
  });
  return addresses;
}

} // namespace

std::vector<KernelSymbol> kernel_symbols_of(const perfdata::Recording& recording,
                                            std::istream& kallsyms) {
  const std::set<std::uint64_t> addresses = kernel_addresses(recording);
  if (addresses.empty()) {
    return {};
  }
  std::vector<KernelSymbol> all;
  for (std::string text; std::getline(kallsyms, text);) {
    const auto line = symbols::read_kallsyms_line(text);
    if (line && line->address != 0 && std::string_view("tTwW").contains(line->type)) {
      all.push_back({.address = line->address, .name = std::string(line->name)});
    }
  }
  std::ranges::stable_sort(all, {}, &KernelSymbol::address);
  std::vector<KernelSymbol> used;
  for (const std::uint64_t address : addresses) {
    const auto next = std::ranges::upper_bound(all, address, {}, &KernelSymbol::address);
    if (next == all.begin()) {
      continue;
    }
    const KernelSymbol& symbol = *std::prev(next);
    if (used.empty() || used.back().address != symbol.address) {
      used.push_back(symbol);
    }
  }
  return used;
}

std::vector<KernelSymbol> kernel_symbols_of(const perfdata::Recording& recording) {
  std::ifstream kallsyms("/proc/kallsyms");
  return kernel_symbols_of(recording, kallsyms);
}

} // namespace ptlens::record
