#include "cache/format/description.hpp"

#include "base/field_archive.hpp"

#include <cstdint>

namespace ptlens::cache {
namespace {

// Visits the fields of an object in the order of the file, for reading and writing.
template <class Archive, class Function>
void function_fields(Archive& archive, Function& function) {
  archive(function.name);
  archive(function.binary);
  archive(function.address);
  archive(function.file);
  archive(function.line);
  archive(function.end_line);
  archive(function.linkage_names);
}

template <class Archive, class Site>
void site_fields(Archive& archive, Site& site) {
  archive(site.function);
  archive(site.address);
  archive(site.file);
  archive(site.line);
}

template <class Archive, class Thread>
void thread_fields(Archive& archive, Thread& thread) {
  archive(thread.pid);
  archive(thread.tid);
  archive(thread.comm);
  archive(thread.first_ns);
  archive(thread.last_ns);
  archive(thread.lost_ns);
  archive(thread.gaps);
  archive(thread.instructions);
  archive(thread.lost);
}

constexpr std::size_t function_bytes = 36;
constexpr std::size_t site_bytes = 20;
constexpr std::size_t thread_bytes = 60;

} // namespace

std::vector<std::byte> to_bytes(const Description& description) {
  FieldWriter out;
  auto put = [&out](const auto& field) { out.put(field); };
  out.put(description.more);
  out.put(std::uint64_t{description.functions.size()});
  for (const stacks::FunctionInfo& function : description.functions) {
    function_fields(put, function);
  }
  out.put(std::uint64_t{description.sites.size()});
  for (const stacks::CallSite& site : description.sites) {
    site_fields(put, site);
  }
  out.put(std::uint64_t{description.threads.size()});
  for (const stacks::ThreadInfo& thread : description.threads) {
    thread_fields(put, thread);
  }
  return out.finish();
}

std::optional<Description> description_from(std::span<const std::byte> bytes) {
  FieldReader in(bytes);
  if (!in.read_strings()) {
    return std::nullopt;
  }
  Description description;
  auto get = [&in](auto& field) { in.get(field); };
  in.get(description.more);
  description.functions.resize(in.length(function_bytes));
  for (stacks::FunctionInfo& function : description.functions) {
    function_fields(get, function);
  }
  description.sites.resize(in.length(site_bytes));
  for (stacks::CallSite& site : description.sites) {
    site_fields(get, site);
    if (site.function != stacks::FunctionId::none && !description.functions.has(site.function)) {
      return std::nullopt;
    }
  }
  description.threads.resize(in.length(thread_bytes));
  for (stacks::ThreadInfo& thread : description.threads) {
    thread_fields(get, thread);
  }
  return in.at_end() ? std::optional(std::move(description)) : std::nullopt;
}

} // namespace ptlens::cache
