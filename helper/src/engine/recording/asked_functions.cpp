// With probes, the manifest lists the measured functions by binary and address. A trace contains
// every function, and the manifest has the names that the user gave. So it has with uftrace, where
// a note names the functions without a hook.
#include "engine/recording/asked_functions.hpp"

#include "measure/names/names.hpp"

#include <algorithm>

namespace ptlens::engine {
namespace {

using record::Probe;

void add_probed(const LoadedRecording& loaded, stacks::Symbolizer& symbolizer) {
  const std::vector<const symbols::MappedCode*> binaries = loaded.spaces->binaries();
  for (const Probe& probe : loaded.manifest->probes) {
    if (!probe.target || probe.kind != Probe::Kind::entry) {
      continue;
    }
    const auto code = std::ranges::find(binaries, probe.binary, &symbols::MappedCode::path);
    if (code == binaries.end()) {
      continue;
    }
    if (const auto index = (*code)->binary->function_entry(probe.function)) {
      (void)symbolizer.function(*(*code)->binary, (*code)->path, *index);
    }
  }
}

bool has_no_hook(const record::Manifest& manifest, const std::string& function) {
  return std::ranges::any_of(manifest.notes, [&](const Note& note) {
    return note.code == record::note_without_hook && note.arguments == std::vector{function};
  });
}

void add_named(const LoadedRecording& loaded, const std::string& name,
               stacks::Symbolizer& symbolizer) {
  const measure::FunctionSelector wanted = measure::parse_selector(name);
  if (wanted.name.empty() ||
      !measure::functions_named(symbolizer.functions(), wanted, {}).empty()) {
    return;
  }
  for (const symbols::MappedCode* code : loaded.spaces->binaries()) {
    for (const std::uint32_t index : code->binary->find(wanted.name)) {
      const symbols::Function& function = code->binary->functions()[index];
      if (wanted.address.value_or(function.address) == function.address &&
          !has_no_hook(*loaded.manifest, function.name)) {
        (void)symbolizer.function(*code->binary, code->path, index);
      }
    }
  }
}

bool has_calls(const measure::Measurement& measurement, stacks::FunctionId function) {
  if (index_of(function) >= measurement.cache->function_count()) {
    return false;
  }
  return std::ranges::any_of(measurement.cache->sums(function).calls,
                             [](std::uint64_t calls) { return calls != 0; });
}

} // namespace

void add_asked_functions(const LoadedRecording& loaded, stacks::Symbolizer& symbolizer) {
  if (!loaded.manifest) {
    return;
  }
  if (loaded.has_probes()) {
    add_probed(loaded, symbolizer);
  } else {
    for (const std::string& name : loaded.manifest->functions) {
      add_named(loaded, name, symbolizer);
    }
  }
}

std::optional<std::vector<stacks::FunctionId>>
asked_functions(const measure::Measurement& measurement) {
  if (measurement.recording.backend != "uprobe") {
    return std::nullopt;
  }
  std::vector<stacks::FunctionId> asked;
  const auto manifest = record::read_manifest(measurement.recording.path);
  if (!manifest) {
    return asked;
  }
  for (const stacks::FunctionId index : measurement.functions.ids()) {
    const stacks::FunctionInfo& function = measurement.functions[index];
    if (std::ranges::any_of(manifest->probes, [&](const Probe& probe) {
          return probe.target && probe.function == function.address &&
                 probe.binary == function.binary;
        })) {
      asked.push_back(index);
    }
  }
  return asked;
}

bool was_not_called(const measure::Measurement& measurement, stacks::FunctionId function) {
  if (has_calls(measurement, function)) {
    return false;
  }
  const auto asked = asked_functions(measurement);
  return !asked || std::ranges::binary_search(*asked, function);
}

} // namespace ptlens::engine
