// Open documents by line; each keeps its checksums, so that an edit costs what it changes.
#include "server/annotations/documents.hpp"

#include "server/requests/requests.hpp"
#include "server/requests/uri.hpp"
#include "source/file_state.hpp"
#include "source/measured_sources.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace ptlens::server {
namespace {

constexpr std::uintmax_t longest_file = 64U << 20U;

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// UTF-16 units of a character that begins with this byte of UTF-8.
std::uint32_t units(char first) {
  return static_cast<unsigned char>(first) >= 0xF0U ? 2 : 1;
}

std::uint32_t length_of(std::string_view line) {
  std::uint32_t length = 0;
  for (const char byte : line) {
    length += continues(byte) ? 0 : units(byte);
  }
  return length;
}

// The byte at which the character at that UTF-16 offset begins; the end where there are fewer.
std::size_t byte_at(std::string_view line, std::uint64_t offset) {
  std::uint64_t passed = 0;
  std::size_t at = 0;
  while (at < line.size() && passed < offset) {
    passed += units(line[at]);
    for (++at; at < line.size() && continues(line[at]);) {
      ++at;
    }
  }
  return at;
}

struct Position {
  std::uint64_t line = 0;
  std::uint64_t character = 0;
};

std::optional<Position> position_of(const Input& range, const char* name) {
  if (!range.is_object() || !range.contains(name) || !range[name].is_object()) {
    return std::nullopt;
  }
  const Input& position = range[name];
  for (const char* field : {"line", "character"}) {
    if (!position.contains(field) || !position[field].is_number_unsigned()) {
      return std::nullopt;
    }
  }
  return Position{.line = position["line"].get<std::uint64_t>(),
                  .character = position["character"].get<std::uint64_t>()};
}

// The path of params.textDocument.uri; empty where there is none.
std::string path_of(const Input& params) {
  if (!params.is_object() || !params.contains("textDocument")) {
    return {};
  }
  const Input& document = params["textDocument"];
  if (!document.is_object() || !document.contains("uri") || !document["uri"].is_string()) {
    return {};
  }
  return path_of_uri(document["uri"].get<std::string>());
}

} // namespace

std::vector<Documents::Line> Documents::lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.push_back(
        {.text = std::string(line), .sums = source::line_sums(line), .length = length_of(line)});
    begin = end + 1;
  }
  return lines;
}

void Documents::edit(Document& document, const Input& change) {
  if (!change.is_object() || !change.contains("text") || !change["text"].is_string()) {
    return;
  }
  const auto& text = change["text"].get_ref<const std::string&>();
  document.shown = nullptr;
  if (!change.contains("range")) {
    document.lines = lines_of(text);
    return;
  }
  const auto start = position_of(change["range"], "start");
  const auto end = position_of(change["range"], "end");
  if (!start || !end) {
    return;
  }
  const std::size_t last = document.lines.size() - 1;
  const std::size_t first_line = std::min<std::uint64_t>(start->line, last);
  const std::size_t end_line =
      std::max<std::size_t>(first_line, std::min<std::uint64_t>(end->line, last));
  const std::string& head = document.lines[first_line].text;
  const std::string& tail = document.lines[end_line].text;
  const std::size_t head_end = start->line > last ? head.size() : byte_at(head, start->character);
  std::size_t tail_begin = end->line > last ? tail.size() : byte_at(tail, end->character);
  if (first_line == end_line) {
    tail_begin = std::max(tail_begin, head_end);
  }
  std::vector<Line> lines = lines_of(head.substr(0, head_end) + text + tail.substr(tail_begin));
  const auto at = document.lines.begin() + static_cast<std::ptrdiff_t>(first_line);
  const std::size_t gone = end_line - first_line + 1;
  const std::size_t kept = std::min(gone, lines.size());
  std::move(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(kept), at);
  if (lines.size() > kept) {
    document.lines.insert(
        at + static_cast<std::ptrdiff_t>(kept),
        std::make_move_iterator(lines.begin() + static_cast<std::ptrdiff_t>(kept)),
        std::make_move_iterator(lines.end()));
  } else {
    document.lines.erase(at + static_cast<std::ptrdiff_t>(kept),
                         at + static_cast<std::ptrdiff_t>(gone));
  }
}

std::shared_ptr<const ShownText> Documents::put_together(const std::vector<Line>& lines) {
  auto shown = std::make_shared<ShownText>();
  std::vector<source::LineSums> sums;
  sums.reserve(lines.size());
  shown->lengths.reserve(lines.size());
  for (const Line& line : lines) {
    sums.push_back(line.sums);
    shown->lengths.push_back(line.length);
  }
  shown->sums = source::text_lines(sums);
  return shown;
}

bool Documents::open(const Input& params) {
  const std::string path = path_of(params);
  if (path.empty()) {
    return false;
  }
  const Input& document = params["textDocument"];
  if (!document.contains("text") || !document["text"].is_string()) {
    return false;
  }
  Document opened{.lines = lines_of(document["text"].get_ref<const std::string&>()), .shown = {}};
  const std::lock_guard lock(mutex_);
  documents_[path] = std::move(opened);
  return true;
}

bool Documents::change(const Input& params) {
  const std::string path = path_of(params);
  const std::lock_guard lock(mutex_);
  const auto at = documents_.find(path);
  if (at == documents_.end() || !params.contains("contentChanges") ||
      !params["contentChanges"].is_array()) {
    return false;
  }
  for (const Input& change : params["contentChanges"]) {
    edit(at->second, change);
  }
  return true;
}

bool Documents::close(const Input& params) {
  const std::lock_guard lock(mutex_);
  return documents_.erase(path_of(params)) > 0;
}

std::shared_ptr<const ShownText> Documents::shown(const std::string& path) const {
  const std::int64_t changed = source::changed_ns(path);
  const std::lock_guard lock(mutex_);
  if (const auto at = documents_.find(path); at != documents_.end()) {
    if (at->second.shown == nullptr) {
      at->second.shown = put_together(at->second.lines);
    }
    return at->second.shown;
  }
  if (changed == 0) {
    files_.erase(path);
    return nullptr;
  }
  OnDisk& file = files_[path];
  if (file.shown == nullptr || file.changed_ns != changed) {
    std::ifstream stream(path, std::ios::binary | std::ios::ate);
    if (!stream || static_cast<std::uintmax_t>(stream.tellg()) > longest_file) {
      return nullptr;
    }
    stream.seekg(0);
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    file = {.changed_ns = changed, .shown = put_together(lines_of(text))};
  }
  return file.shown;
}

} // namespace ptlens::server
