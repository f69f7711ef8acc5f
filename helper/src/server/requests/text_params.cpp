// The parameters of LSP requests about a text document.
#include "server/requests/text_params.hpp"

#include "protocol/fields.hpp"
#include "server/requests/uri.hpp"

#include <limits>
#include <optional>
#include <utility>

namespace ptlens::server {

namespace {

using protocol::BadField;
using protocol::Fields;
using protocol::Input;
using protocol::Read;

constexpr std::int64_t last_line = std::numeric_limits<std::int32_t>::max() - 1; // 0-based

// Returns the path of the field `textDocument.uri`.
std::string read_file(const Fields& fields) {
  const Fields document = fields.child("textDocument");
  document.require("uri");
  return path_of_uri(document.text("uri", 1).value_or(""));
}

// Returns the field `line` as a 1-based line.
std::uint32_t read_line(const Fields& position, std::int64_t absent) {
  return static_cast<std::uint32_t>(position.integer("line", 0, last_line).value_or(absent)) + 1;
}

template <class Value>
Read<Value> result(std::optional<BadField> bad, Value value) {
  if (bad) {
    return std::unexpected(std::move(*bad));
  }
  return value;
}

} // namespace

Read<TextPosition> read_document(const Input& params) {
  std::optional<BadField> bad;
  TextPosition position{.file = read_file(Fields(params, "", bad))};
  return result(std::move(bad), std::move(position));
}

Read<TextPosition> read_position(const Input& params) {
  std::optional<BadField> bad;
  const Fields fields(params, "", bad);
  TextPosition position{.file = read_file(fields)};
  const Fields field = fields.child("position");
  field.require("line");
  position.line = read_line(field, 0);
  return result(std::move(bad), std::move(position));
}

Read<TextRange> read_range(const Input& params) {
  std::optional<BadField> bad;
  const Fields fields(params, "", bad);
  TextRange range{.file = read_file(fields)};
  const Fields field = fields.child("range");
  range.first = read_line(field.child("start"), 0);
  range.last = read_line(field.child("end"), last_line);
  return result(std::move(bad), std::move(range));
}

} // namespace ptlens::server
