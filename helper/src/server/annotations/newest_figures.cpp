// Functions of different recordings are the same if name and source file are: after a rebuild, the
// same function is at another address.
#include "server/annotations/newest_figures.hpp"

#include "server/annotations/code_lens.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace ptlens::server {
namespace {

// Which recording shows a function or a line: the one with the lowest rank, the first one of equal
// ranks.
enum class Rank : std::uint8_t { measured, has_calls, no_calls };

struct Choice {
  Rank rank = Rank::no_calls;
  std::size_t recording = 0;
};

template <class Key>
void offer(std::map<Key, Choice>& chosen, const Key& key, const Choice& choice) {
  const auto [at, added] = chosen.try_emplace(key, choice);
  if (!added && choice.rank < at->second.rank) {
    at->second = choice;
  }
}

// Name and source file.
using FunctionKey = std::pair<std::string, std::string>;

FunctionKey key_of(const AnnotatedFile& file, const AnnotatedFunction& function) {
  const stacks::FunctionInfo& info = file.measurement().functions[function.entry->function];
  return {info.name, info.file};
}

Rank rank_of(const AnnotatedFile& file, const AnnotatedFunction& function) {
  const measure::Report& report = function.entry->report;
  if (file.recording->was_asked_for(function.entry->function)) {
    return Rank::measured;
  }
  return report.complete + report.incomplete + report.unwound > 0 ? Rank::has_calls
                                                                  : Rank::no_calls;
}

// The calls of a line are complete where the function around the line was measured.
Rank rank_of(const AnnotatedFile& file, const AnnotatedLine& line) {
  const bool measured = std::ranges::any_of(line.row->holders, [&](stacks::FunctionId function) {
    return file.recording->was_asked_for(function);
  });
  if (measured) {
    return Rank::measured;
  }
  return line.has_calls() ? Rank::has_calls : Rank::no_calls;
}

void keep_chosen(NewestFigures& files) {
  std::map<FunctionKey, Choice> functions;
  std::map<std::uint32_t, Choice> lines;
  for (std::size_t index = 0; index < files.size(); ++index) {
    const AnnotatedFile& file = files[index];
    for (const AnnotatedFunction& function : file.functions) {
      offer(functions, key_of(file, function),
            {.rank = rank_of(file, function), .recording = index});
    }
    for (const AnnotatedLine& line : file.rows) {
      offer(lines, line.line, {.rank = rank_of(file, line), .recording = index});
    }
  }
  for (std::size_t index = 0; index < files.size(); ++index) {
    AnnotatedFile& file = files[index];
    std::vector<AnnotatedFunction> kept;
    std::vector<std::size_t> moved_to;
    for (AnnotatedFunction& function : file.functions) {
      const bool keeps = functions.at(key_of(file, function)).recording == index;
      moved_to.push_back(keeps ? kept.size() : SIZE_MAX);
      if (keeps) {
        kept.push_back(std::move(function));
      }
    }
    std::erase_if(file.rows, [&](const AnnotatedLine& line) {
      return lines.at(line.line).recording != index;
    });
    file.functions = std::move(kept);
    file.hottest = 0;
    for (AnnotatedLine& line : file.rows) {
      const bool has_function = line.function < moved_to.size();
      line.function = has_function ? std::min(moved_to[line.function], file.functions.size())
                                   : file.functions.size();
      file.hottest = std::max(file.hottest, line.row->latency.total);
    }
  }
}

Json together(const NewestFigures& files, const std::function<Json(const AnnotatedFile&)>& of_one) {
  Json all = Json::array();
  for (const AnnotatedFile& file : files) {
    for (Json& each : of_one(file)) {
      all.push_back(std::move(each));
    }
  }
  return all;
}

} // namespace

Result<NewestFigures> newest_figures(std::span<const std::shared_ptr<OpenRecording>> recordings,
                                     const std::shared_ptr<OpenRecording>& baseline,
                                     const std::string& path, const Documents& documents) {
  NewestFigures files;
  std::optional<Error> of_active;
  for (std::size_t index = 0; index < std::max<std::size_t>(recordings.size(), 1); ++index) {
    const auto& recording = index < recordings.size() ? recordings[index] : nullptr;
    auto file = annotate(recording, index == 0 ? baseline : nullptr, path, documents);
    if (file) {
      files.push_back(std::move(*file));
    } else if (index == 0) {
      of_active = std::move(file.error());
    }
  }
  if (files.empty()) {
    return std::unexpected(std::move(*of_active));
  }
  if (files.size() > 1) {
    keep_chosen(files);
  }
  return files;
}

Json code_lenses(const NewestFigures& files, bool links) {
  return together(files, [&](const AnnotatedFile& file) { return code_lenses(file, links); });
}

Json inlay_hints(const NewestFigures& files, const LineSpan& span) {
  return together(files, [&](const AnnotatedFile& file) { return inlay_hints(file, span); });
}

Json line_annotations(const NewestFigures& files, const LineSpan& span, bool heat) {
  Json all = line_annotations(files.front(), span, heat);
  for (const AnnotatedFile& file : std::span(files).subspan(1)) {
    Json more = line_annotations(file, span, heat);
    all["hottest"] =
        std::max(all["hottest"].get<std::uint64_t>(), more["hottest"].get<std::uint64_t>());
    for (Json& binary : more["binaries"]) {
      if (std::ranges::find(all["binaries"], binary) == all["binaries"].end()) {
        all["binaries"].push_back(std::move(binary));
      }
    }
    for (Json& line : more["lines"]) {
      all["lines"].push_back(std::move(line));
    }
    if (heat) {
      for (const char* column : {"line", "total"}) {
        for (Json& value : more["heat"][column]) {
          all["heat"][column].push_back(std::move(value));
        }
      }
    }
  }
  std::ranges::stable_sort(all["lines"].get_ref<Json::array_t&>(), {},
                           [](const Json& line) { return line["line"].get<std::uint32_t>(); });
  return all;
}

Json hover(const NewestFigures& files, std::uint32_t line, const HoverStyle& style) {
  Json all;
  for (const AnnotatedFile& file : files) {
    Json one = hover(file, line, style);
    if (all.is_null()) {
      all = std::move(one);
    } else if (!one.is_null()) {
      auto& text = all["contents"]["value"].get_ref<std::string&>();
      text += "\n\n---\n\n" + one["contents"]["value"].get<std::string>();
    }
  }
  return all;
}

} // namespace ptlens::server
