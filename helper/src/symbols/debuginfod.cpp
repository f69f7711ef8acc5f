// Fetching by libdebuginfod, which keeps what it got and what it was refused in a cache of its own.
#include "symbols/debuginfod.hpp"

#include <elfutils/debuginfod.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <unistd.h>

namespace ptlens::symbols {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<std::int64_t> limit_ms = 0; // 0: not allowed
std::atomic<bool> given_up = false;

struct End {
  void operator()(debuginfod_client* client) const { debuginfod_end(client); }
};

struct FreeText {
  void operator()(char* text) const { std::free(text); } // NOLINT: libdebuginfod used malloc
};

// Called often during a fetch; anything but 0 ends it.
int is_late(debuginfod_client* client, long /*done*/, long /*all*/) {
  const auto* const end = static_cast<Clock::time_point*>(debuginfod_get_user_data(client));
  if (Clock::now() < *end) {
    return 0;
  }
  given_up = true;
  return 1;
}

using Find = int (*)(debuginfod_client*, const unsigned char*, int, char**);

std::optional<std::string> fetch(Find find, std::span<const std::uint8_t> build_id) {
  if (!debuginfod_allowed() || given_up || build_id.empty()) {
    return std::nullopt;
  }
  const std::unique_ptr<debuginfod_client, End> client(debuginfod_begin());
  if (!client) {
    return std::nullopt;
  }
  Clock::time_point end = Clock::now() + std::chrono::milliseconds(limit_ms.load());
  debuginfod_set_user_data(client.get(), &end);
  debuginfod_set_progressfn(client.get(), is_late);
  char* path = nullptr;
  const int file = find(client.get(), build_id.data(), static_cast<int>(build_id.size()), &path);
  const std::unique_ptr<char, FreeText> owned(path);
  if (file < 0) {
    return std::nullopt;
  }
  ::close(file);
  return std::string(path);
}

} // namespace

void allow_debuginfod(std::chrono::milliseconds limit) {
  limit_ms = limit.count();
  given_up = false;
}

bool debuginfod_allowed() {
  return limit_ms != 0;
}

std::optional<std::string> fetch_debug_file(std::span<const std::uint8_t> build_id) {
  return fetch(debuginfod_find_debuginfo, build_id);
}

std::optional<std::string> fetch_binary(std::span<const std::uint8_t> build_id) {
  return fetch(debuginfod_find_executable, build_id);
}

} // namespace ptlens::symbols
