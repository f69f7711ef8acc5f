#include "cache/reading/window_calls.hpp"

#include "base/parallel.hpp"
#include "cache/reading/edge_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace ptlens::cache {
namespace {

using Windows = std::span<const Window>;

// Returns the windows by thread, in order of time, those that overlap as one.
std::vector<std::vector<Window>> windows_by_thread(std::size_t threads, Windows windows) {
  std::vector<Window> sorted(windows.begin(), windows.end());
  std::ranges::sort(sorted, {}, &Window::begin);
  std::vector<std::vector<Window>> by_thread(threads);
  for (const Window& window : sorted) {
    std::vector<Window>& of_thread = by_thread[window.thread];
    if (!of_thread.empty() && window.begin <= of_thread.back().end) {
      of_thread.back().end = std::max(of_thread.back().end, window.end);
    } else {
      of_thread.push_back(window);
    }
  }
  return by_thread;
}

// Returns those that overlap [begin, end].
Windows overlapping(Windows windows, std::uint64_t begin, std::uint64_t end) {
  const auto first = std::ranges::lower_bound(windows, begin, {}, &Window::end);
  const auto last = std::ranges::upper_bound(first, windows.end(), end, {}, &Window::begin);
  return {first, last};
}

struct WindowBlock {
  EdgeId edge{};
  const BlockEntry* entry = nullptr;
  Windows windows; // that its calls may overlap
};

// Finds calls in blocks.
class WindowFinder {
public:
  void find(const WindowBlock& source, const Block& block) {
    const BlockEntry& entry = *source.entry;
    block.read_starts(entry, sized_for(entry, starts_));
    block.read_walls(entry, sized_for(entry, walls_));
    std::vector<std::uint32_t> calls;
    for (std::uint32_t call = 0; call < entry.calls; ++call) {
      if (!overlapping(source.windows, starts_[call], starts_[call] + walls_[call]).empty()) {
        calls.push_back(call);
      }
    }
    if (!calls.empty()) {
      found_.push_back({.edge = source.edge, .entry = &entry, .calls = std::move(calls)});
    }
  }

  [[nodiscard]] std::vector<ChosenCalls> take() { return std::move(found_); }

private:
  std::vector<ChosenCalls> found_;
  // Of the block:
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> walls_;
};

} // namespace

CallRows read_calls(const CallCache& cache, std::span<const EdgeId> edges,
                    std::span<const Window> windows) {
  const EdgesInWindows set{.edges = edges, .windows = windows};
  return read_calls(cache, {&set, 1});
}

CallRows read_calls(const CallCache& cache, std::span<const EdgesInWindows> sets) {
  std::vector<std::vector<std::vector<Window>>> by_thread; // by set
  std::vector<WindowBlock> blocks;
  for (const EdgesInWindows& set : sets) {
    by_thread.push_back(windows_by_thread(cache.thread_count(), set.windows));
    for (const EdgeId edge : set.edges) {
      for (const BlockEntry& entry : cache.blocks(edge)) {
        const Windows some =
            overlapping(by_thread.back()[entry.thread], entry.first_start, entry.last_end);
        if (!some.empty()) {
          blocks.push_back({.edge = edge, .entry = &entry, .windows = some});
        }
      }
    }
  }
  constexpr std::size_t blocks_per_part = 500;
  std::vector<WindowFinder> parts(parts_of(blocks.size(), blocks_per_part));
  each_block(cache, blocks, parts,
             [](WindowFinder& part, const WindowBlock& source, const Block& block) {
               part.find(source, block);
             });
  std::vector<ChosenCalls> chosen;
  for (WindowFinder& part : parts) {
    std::ranges::move(part.take(), std::back_inserter(chosen));
  }
  return read_calls(cache, chosen);
}

} // namespace ptlens::cache
