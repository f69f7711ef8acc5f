#include "waits/waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace ptlens::waits {
namespace {

// Returns "nanosleep" for "__GI___nanosleep@@GLIBC_2.2.5": the name by which programs call it.
std::string plain(std::string_view name) {
  name = name.substr(0, name.find('@'));
  for (const std::string_view begin : {"__GI_", "__libc_", "___", "__"}) {
    if (name.starts_with(begin) && name.size() > begin.size()) {
      name.remove_prefix(begin.size());
    }
  }
  if (name.starts_with("libc_")) {
    name.remove_prefix(std::string_view("libc_").size());
  }
  return std::string(name);
}

bool is_of_library(std::string_view function) {
  constexpr std::array<std::string_view, 6> beginnings = {
      "std::", "__gthread_", "__gnu_cxx::", "core::", "alloc::", "parking_lot"};
  return std::ranges::any_of(beginnings,
                             [&](std::string_view begin) { return function.starts_with(begin); });
}

} // namespace

bool is_system_library(std::string_view path) {
  const std::string_view file = path.substr(path.find_last_of('/') + 1);
  constexpr std::array<std::string_view, 10> beginnings = {
      "libc.so",  "libc-",   "libpthread", "libstdc++", "libgcc_s",
      "ld-linux", "ld-musl", "[vdso]",     "libc.musl", "librt"};
  return std::ranges::any_of(beginnings,
                             [&](std::string_view begin) { return file.starts_with(begin); });
}

std::span<const Wait> Waits::of_thread(std::int32_t tid) const {
  const auto range = std::ranges::equal_range(all, tid, {}, &Wait::tid);
  return {range.begin(), range.end()};
}

std::span<const Wait> Waits::within(std::int32_t tid, std::uint64_t begin,
                                    std::uint64_t end) const {
  const std::span<const Wait> waits = of_thread(tid);
  const auto first = std::ranges::upper_bound(waits, begin, {}, &Wait::end);
  const auto last = std::ranges::lower_bound(waits, end, {}, &Wait::begin);
  return first < last ? std::span<const Wait>(first, last) : std::span<const Wait>{};
}

const stacks::FunctionInfo* Waits::function_of(stacks::SiteId site) const {
  if (!sites.has(site) || !functions.has(sites[site].function)) {
    return nullptr;
  }
  return &functions[sites[site].function];
}

WaitPlace Waits::place(StackId stack) const {
  WaitPlace place;
  if (!stacks.has(stack)) {
    return place;
  }
  for (const stacks::SiteId site : stacks[stack]) {
    const stacks::FunctionInfo* const function = function_of(site);
    if (function == nullptr) {
      break;
    }
    if (!is_system_library(function->binary) && !is_of_library(function->name)) {
      place.site = site;
      break;
    }
    place.called = plain(function->name);
    if (const LockKind kind = lock_kind(place.called); kind != LockKind::none) {
      place.lock = kind;
    }
  }
  return place;
}

std::string Waits::thread_name(std::int32_t tid) const {
  const auto found = thread_names.find(tid);
  return found == thread_names.end() || found->second.empty() ? fmt::format("thread {}", tid)
                                                              : found->second;
}

} // namespace ptlens::waits
