#include "measure/waits/likely_wakers.hpp"

#include "cache/reading/call_columns.hpp"
#include "cache/reading/edge_blocks.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>

namespace ptlens::measure {
namespace {

// A woken thread needs some time until it runs; the release can be a little longer ago.
constexpr std::uint64_t longest_wakeup_ns = 1'000'000;

bool releases(std::string_view function) {
  constexpr std::array<std::string_view, 12> names = {"pthread_mutex_unlock",
                                                      "__pthread_mutex_unlock",
                                                      "pthread_cond_signal",
                                                      "pthread_cond_broadcast",
                                                      "pthread_rwlock_unlock",
                                                      "sem_post",
                                                      "pthread_barrier_wait",
                                                      "mtx_unlock",
                                                      "cnd_signal",
                                                      "cnd_broadcast",
                                                      "__lll_lock_wake",
                                                      "std::mutex::unlock"};
  return std::ranges::find(names, function.substr(0, function.find_first_of("@("))) != names.end();
}

} // namespace

void LikelyWakers::read() {
  const cache::CallCache& cache = *measurement_.cache;
  cache::CallStarts calls;
  for (const stacks::FunctionId function : measurement_.functions.ids()) {
    if (!releases(measurement_.functions[function].name)) {
      continue;
    }
    for (const cache::EdgeBlock& source : cache::blocks_to(cache, {&function, 1})) {
      const cache::BlockEntry& entry = *source.entry;
      const std::size_t readable = calls.read(cache, entry) ? entry.calls : 0;
      for (std::size_t call = 0; call < readable; ++call) {
        releases_.push_back({.start = calls.starts[call],
                             .thread = entry.thread,
                             .order = calls.orders[call],
                             .site = cache.edge(source.edge).site,
                             .function = function});
      }
    }
  }
  std::ranges::sort(releases_, {}, [](const Release& each) {
    return std::tuple(each.start, each.thread, each.order);
  });
}

std::optional<LikelyWaker> LikelyWakers::find(const waits::Wait& wait) {
  if (!read_) {
    read_ = true;
    read();
  }
  auto next = std::ranges::upper_bound(releases_, wait.end, {}, &Release::start);
  while (next != releases_.begin()) {
    const Release& release = *--next;
    if (release.start < wait.begin || release.start + longest_wakeup_ns < wait.end) {
      break;
    }
    const std::int32_t tid = measurement_.threads[release.thread].tid;
    if (tid == wait.tid) {
      continue;
    }
    LikelyWaker waker{
        .tid = tid, .place = {}, .called = measurement_.functions[release.function].name};
    if (measurement_.sites.has(release.site)) {
      const stacks::CallSite& site = measurement_.sites[release.site];
      if (measurement_.functions.has(site.function)) {
        waker.place = {.function = measurement_.functions[site.function].name,
                       .binary = measurement_.functions[site.function].binary,
                       .file = site.file,
                       .line = site.line};
      }
    }
    return waker;
  }
  return std::nullopt;
}

} // namespace ptlens::measure
