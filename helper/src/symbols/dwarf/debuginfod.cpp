// Downloads by libdebuginfod, which caches files and refusals. The library is loaded when downloads
// are first allowed: with libcurl and its dependencies, loading it would take longer than most
// commands.
#include "symbols/dwarf/debuginfod.hpp"

#include <elfutils/debuginfod.h>

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <type_traits>
#include <unistd.h>

namespace ptlens::symbols {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<std::int64_t> limit_ms = 0; // 0: not allowed
std::atomic<bool> given_up = false;

struct Library {
  decltype(&debuginfod_begin) begin = nullptr;
  decltype(&debuginfod_end) end = nullptr;
  decltype(&debuginfod_set_user_data) set_user_data = nullptr;
  decltype(&debuginfod_get_user_data) get_user_data = nullptr;
  decltype(&debuginfod_set_progressfn) set_progress = nullptr;
  decltype(&debuginfod_find_debuginfo) find_debug_file = nullptr;
  decltype(&debuginfod_find_executable) find_binary = nullptr;

  Library() {
    void* const library = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      return;
    }
    const auto load = [library, this](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>( // NOLINT
          ::dlsym(library, name));
      complete_ = complete_ && function != nullptr;
    };
    complete_ = true;
    load(begin, "debuginfod_begin");
    load(end, "debuginfod_end");
    load(set_user_data, "debuginfod_set_user_data");
    load(get_user_data, "debuginfod_get_user_data");
    load(set_progress, "debuginfod_set_progressfn");
    load(find_debug_file, "debuginfod_find_debuginfo");
    load(find_binary, "debuginfod_find_executable");
  }
  [[nodiscard]] bool complete() const { return complete_; }

private:
  bool complete_ = false;
};

// The library is never unloaded: libcurl has threads and exit handlers.
const Library& library() {
  static const Library loaded;
  return loaded;
}

struct End {
  void operator()(debuginfod_client* client) const { library().end(client); }
};

struct FreeText {
  void operator()(char* text) const { std::free(text); } // NOLINT: libdebuginfod used malloc
};

// libdebuginfod calls this often during a download. A result other than 0 ends the download.
int is_late(debuginfod_client* client, long /*done*/, long /*all*/) {
  const auto* const end = static_cast<Clock::time_point*>(library().get_user_data(client));
  if (Clock::now() < *end) {
    return 0;
  }
  given_up = true;
  return 1;
}

using Find = decltype(&debuginfod_find_executable);

std::optional<std::string> fetch(Find Library::* find, std::span<const std::uint8_t> build_id) {
  if (!debuginfod_allowed() || given_up || build_id.empty()) {
    return std::nullopt;
  }
  const std::unique_ptr<debuginfod_client, End> client(library().begin());
  if (!client) {
    return std::nullopt;
  }
  Clock::time_point end = Clock::now() + std::chrono::milliseconds(limit_ms.load());
  library().set_user_data(client.get(), &end);
  library().set_progress(client.get(), is_late);
  char* path = nullptr;
  const int file =
      (library().*find)(client.get(), build_id.data(), static_cast<int>(build_id.size()), &path);
  const std::unique_ptr<char, FreeText> owned(path);
  if (file < 0) {
    return std::nullopt;
  }
  ::close(file);
  return std::string(path);
}

} // namespace

bool allow_debuginfod(std::chrono::milliseconds limit) {
  if (!library().complete()) {
    return false;
  }
  limit_ms = limit.count();
  given_up = false;
  return true;
}

bool debuginfod_allowed() {
  return limit_ms != 0;
}

std::optional<std::string> fetch_debug_file(std::span<const std::uint8_t> build_id) {
  return fetch(&Library::find_debug_file, build_id);
}

std::optional<std::string> fetch_binary(std::span<const std::uint8_t> build_id) {
  return fetch(&Library::find_binary, build_id);
}

} // namespace ptlens::symbols
