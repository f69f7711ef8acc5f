#include "record/waits/kernel_symbols.hpp"

#include "base/user_cache.hpp"
#include "perfdata/bytes/mapped_file.hpp"
#include "record/machine/boot_files.hpp"
#include "record/processes/files.hpp"
#include "record/waits/kernel_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/perf_event.h>
#include <set>
#include <span>
#include <string>
#include <string_view>

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

constexpr std::size_t most_bytes = 64U << 20U; // of a list of functions

// Returns what the file contains; nothing where it is too long to be ours.
std::string_view text_of(const perfdata::MappedFile& file) {
  const std::span<const std::byte> bytes = file.bytes();
  return bytes.size() <= most_bytes
             ? std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
             : std::string_view();
}

} // namespace

std::vector<KernelSymbol> kernel_symbols_of(const perfdata::Recording& recording) {
  const std::set<std::uint64_t> addresses = kernel_addresses(recording);
  if (addresses.empty()) {
    return {};
  }
  const BootedKernel kernel = booted_kernel();
  const std::string modules = read_text("/proc/modules").value_or("");
  const std::string file = file_of_boot("kernel-functions");
  const auto mapped = perfdata::MappedFile::open(file);
  const std::string_view kept = mapped ? text_of(*mapped) : std::string_view();
  KernelFunctions known = KernelFunctions::parse(kept, kernel, modules).value_or(KernelFunctions());
  const bool all_known = std::ranges::all_of(
      addresses, [&known](std::uint64_t at) { return known.at(at).has_value(); });
  if (!all_known) {
    known = KernelFunctions::read(read_text("/proc/kallsyms", most_bytes).value_or(""));
    const std::string text = known.text(kernel, modules);
    if (!file.empty() && !kernel.boot_id.empty() && text != kept) {
      keep_in_cache(file, text);
    }
  }
  std::vector<KernelSymbol> used;
  for (const std::uint64_t address : addresses) {
    const auto function = known.at(address);
    if (function && (used.empty() || used.back().address != function->first)) {
      used.push_back({.address = function->first, .name = std::string(function->name)});
    }
  }
  return used;
}

} // namespace ptlens::record
