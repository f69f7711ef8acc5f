// The texts that the client has open, updated with its edits, so that answers refer to the lines
// that the user sees. May be used from several threads at once.
#pragma once

#include "protocol/types.hpp"
#include "source/text_lines.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::server {

using protocol::Input;

struct ShownText {
  source::TextLines sums;
  std::vector<std::uint32_t> lengths; // of each line in UTF-16 units, without its line break
};

class Documents {
public:
  // Applies textDocument/didOpen, didChange and didClose. Ignores invalid parameters, because
  // notifications have no answer. Each returns whether a text has changed.
  bool open(const Input& params);
  bool change(const Input& params);
  bool close(const Input& params);

  // Returns the text of an open document, else of the file; null where there is neither.
  [[nodiscard]] std::shared_ptr<const ShownText> shown(const std::string& path) const;

private:
  struct Line {
    std::string text;
    source::LineSums sums;
    std::uint32_t length = 0; // UTF-16 units
  };
  struct Document {
    std::vector<Line> lines;
    mutable std::shared_ptr<const ShownText> shown; // null: not computed yet
  };
  static std::vector<Line> lines_of(std::string_view text);
  static void edit(Document& document, const Input& change);
  static std::shared_ptr<const ShownText> put_together(const std::vector<Line>& lines);

  mutable std::mutex mutex_;
  std::map<std::string, Document> documents_; // by path
  struct OnDisk {
    std::int64_t changed_ns = 0;
    std::shared_ptr<const ShownText> shown;
  };
  mutable std::map<std::string, OnDisk> files_; // files that are not open
};

} // namespace ptlens::server
