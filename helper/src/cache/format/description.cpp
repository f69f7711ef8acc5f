// Numbers have a fixed size. A string is encoded as its index in a table that follows.
#include "cache/format/description.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace ptlens::cache {
namespace {

class Out {
public:
  template <class T>
    requires std::is_integral_v<T>
  void put(T value) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + sizeof value);
    std::memcpy(&bytes_[begin], &value, sizeof value);
  }

  template <Id I>
  void put(I id) {
    put(index_of(id));
  }

  void put(const std::string& text) {
    const auto [at, added] =
        numbers_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (added) {
      strings_.push_back(&at->first);
    }
    put(at->second);
  }

  void put(const std::vector<std::string>& texts) {
    put(std::uint64_t{texts.size()});
    for (const std::string& text : texts) {
      put(text);
    }
  }

  void put(const std::vector<stacks::Gap>& gaps) {
    put(std::uint64_t{gaps.size()});
    for (const auto& [begin, end] : gaps) {
      put(begin);
      put(end);
    }
  }

  std::vector<std::byte> finish() {
    Out table;
    table.put(std::uint64_t{strings_.size()});
    for (const std::string* const text : strings_) {
      table.put(std::uint64_t{text->size()});
      const auto bytes = std::as_bytes(std::span(*text));
      table.bytes_.insert(table.bytes_.end(), bytes.begin(), bytes.end());
    }
    table.bytes_.insert(table.bytes_.end(), bytes_.begin(), bytes_.end());
    return std::move(table.bytes_);
  }

private:
  std::vector<std::byte> bytes_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> strings_;
};

class In {
public:
  explicit In(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool read_strings() {
    const std::size_t count = length(sizeof(std::uint64_t));
    for (std::size_t i = 0; i < count && good_; ++i) {
      const std::size_t size = length(1);
      strings_.emplace_back(reinterpret_cast<const char*>(bytes_.data()), size);
      bytes_ = bytes_.subspan(size);
    }
    return good_;
  }

  // Reads the number of objects that follow, each of at least that many bytes.
  std::size_t length(std::size_t bytes_each) {
    std::uint64_t count = 0;
    get(count);
    if (count > bytes_.size() / bytes_each) {
      good_ = false;
      return 0;
    }
    return count;
  }

  template <class T>
    requires std::is_integral_v<T>
  void get(T& value) {
    value = 0;
    if (bytes_.size() < sizeof value) {
      good_ = false;
      return;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }

  template <Id I>
  void get(I& id) {
    std::uint32_t number = 0;
    get(number);
    id = I{number};
  }

  void get(std::string& text) {
    std::uint32_t number = 0;
    get(number);
    if (number < strings_.size()) {
      text = strings_[number];
    } else {
      good_ = false;
    }
  }

  void get(std::vector<stacks::Gap>& gaps) {
    gaps.resize(length(2 * sizeof(std::uint64_t)));
    for (auto& [begin, end] : gaps) {
      get(begin);
      get(end);
    }
  }

  void get(std::vector<std::string>& texts) {
    texts.resize(length(sizeof(std::uint32_t)));
    for (std::string& text : texts) {
      get(text);
    }
  }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return good_ && bytes_.empty(); }

private:
  std::span<const std::byte> bytes_;
  std::vector<std::string_view> strings_;
  bool good_ = true;
};

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
  Out out;
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
  In in(bytes);
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
