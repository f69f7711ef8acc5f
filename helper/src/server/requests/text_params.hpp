// The parameters of LSP requests about a text document.
#pragma once

#include "protocol/types.hpp"

#include <cstdint>
#include <string>

namespace ptlens::server {

struct TextPosition {
  std::string file;
  std::uint32_t line = 0; // 1-based; 0: none
};

struct TextRange {
  std::string file;
  std::uint32_t first = 1; // lines, 1-based, both included
  std::uint32_t last = UINT32_MAX;
};

// Reads `textDocument` alone.
[[nodiscard]] protocol::Read<TextPosition> read_document(const protocol::Input& params);
// Reads `textDocument` and `position`.
[[nodiscard]] protocol::Read<TextPosition> read_position(const protocol::Input& params);
// Reads `textDocument` and `range`, for example of an inlay hint request.
[[nodiscard]] protocol::Read<TextRange> read_range(const protocol::Input& params);

} // namespace ptlens::server
