#include "engine/waits/recorded_waits.hpp"

#include "base/cancellation.hpp"
#include "cache/writing/output.hpp"
#include "engine/bundle/bundle.hpp"
#include "engine/cache/cache_key.hpp"
#include "engine/cache/cache_location.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "engine/waits/wait_file.hpp"
#include "perfdata/bytes/mapped_file.hpp"
#include "symbols/elf/kallsyms.hpp"
#include "symbols/elf/opened_files.hpp"
#include "waits/find_waits.hpp"
#include "waits/kernel_names.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace ptlens::engine {
namespace {

using SharedWaits = std::shared_ptr<const waits::Waits>;
using Symbols = std::vector<std::pair<std::uint64_t, std::string>>;

constexpr const char* waits_suffix = ".waits"; // after cache_suffix

SharedWaits stored(const std::string& recording, const std::string& data,
                   const OpenOptions& options) {
  for (const std::string& path : cache_locations(recording, data, options)) {
    const auto file = perfdata::MappedFile::open(path + waits_suffix);
    if (!file) {
      continue;
    }
    auto read = waits_from({reinterpret_cast<const char*>(file->bytes().data()), // NOLINT
                            file->bytes().size()});
    if (read && engine::mismatch(read->key, recording, data, options).empty()) {
      return std::make_shared<const waits::Waits>(std::move(read->waits));
    }
  }
  return nullptr;
}

void store(const waits::Waits& waits, const std::string& key, const LoadedRecording& loaded,
           const std::string& data, const OpenOptions& options) {
  const std::string path = writable_location(cache_locations(loaded.path, data, options));
  if (path.empty()) {
    return;
  }
  cache::remove_abandoned(path + waits_suffix);
  auto output = cache::Output::create(path + waits_suffix);
  if (!output) {
    return;
  }
  const std::string bytes = wait_bytes(waits, key);
  output->append(std::as_bytes(std::span(bytes)));
  if (!output->complete().empty()) {
    [[maybe_unused]] const auto published = output->publish(); // waits can be read again
  }
}

Symbols symbols_of_file(const std::filesystem::path& path) {
  symbols::OpenedFiles::add(path.string());
  Symbols list;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const auto line = symbols::read_kallsyms_line(text);
    if (line && line->address != 0 && std::string_view("tTwW").contains(line->type)) {
      list.emplace_back(line->address, line->name);
    }
  }
  std::ranges::stable_sort(list, {}, &Symbols::value_type::first);
  return list;
}

// Returns the names that `ptlens record` stored, else those of a copy of /proc/kallsyms.
waits::KernelNames kernel_names(const LoadedRecording& loaded, const std::string& data,
                                const OpenOptions& options) {
  Symbols symbols;
  if (loaded.manifest) {
    for (const record::KernelSymbol& symbol : loaded.manifest->kernel_symbols) {
      symbols.emplace_back(symbol.address, symbol.name);
    }
  }
  if (symbols.empty()) {
    symbols = symbols_of_file(options.kallsyms.empty()
                                  ? std::filesystem::path(data).parent_path() / "kcore_dir/kallsyms"
                                  : std::filesystem::path(options.kallsyms));
  }
  return waits::KernelNames(std::move(symbols));
}

std::set<std::uint64_t> entry_events(const LoadedRecording& loaded) {
  std::set<std::uint64_t> events;
  for (const record::Probe& probe :
       loaded.manifest ? loaded.manifest->probes : std::vector<record::Probe>()) {
    if (probe.kind == record::Probe::Kind::entry && !probe.goroutine) {
      events.insert(probe.event_id);
    }
  }
  return events;
}

} // namespace

Result<SharedWaits> recorded_waits(const std::string& named, const OpenOptions& options,
                                   const Progress& progress) {
  const auto recording = unpacked(named);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  const std::string data = data_file(*recording);
  if (options.use_cache) {
    if (auto known = stored(*recording, data, options)) {
      return known;
    }
  }
  progress.report({"opening", 0, 0, "bytes"});
  const Cancellable scope(progress);
  const symbols::OpenedFiles trail;
  const auto loaded = load(*recording, options);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const waits::KernelNames kernel = kernel_names(*loaded, data, options);
  auto found = waits::find_waits({.recording = loaded->recording,
                                  .switches = *loaded->context_switches,
                                  .spaces = *loaded->spaces,
                                  .kernel = kernel,
                                  .pid = loaded->pid,
                                  .entry_events = entry_events(*loaded)},
                                 progress);
  if (!found) {
    return std::unexpected(found.error());
  }
  if (options.use_cache) {
    store(*found, cache_key(loaded->path, data, options, trail.paths()), *loaded, data, options);
  }
  return std::make_shared<const waits::Waits>(std::move(*found));
}

std::shared_ptr<measure::LazyWaits> waits_on_use(const std::string& recording,
                                                 const OpenOptions& options) {
  OpenOptions later = options;
  later.read = nullptr; // they would be in memory until then
  later.ahead = nullptr;
  return std::make_shared<measure::LazyWaits>([recording, later = std::move(later)] {
    return recorded_waits(recording, later, Progress()); // others wait for it: not cancelled
  });
}

} // namespace ptlens::engine
