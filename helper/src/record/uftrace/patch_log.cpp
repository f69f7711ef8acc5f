// The lines:
//   dynamic: force patch normal func: NAME (patch size: 5)
//   dynamic: update 0x5566 for 'NAME' function dynamically to call __fentry__
//   dynamic:   >> FAIL: NAME
//   dynamic:   >> SKIP: NAME
//   dynamic: bad jump: NAME:1234 to 5678       NAME is jumped into, and restored
#include "record/uftrace/patch_log.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace ptlens::record {
namespace {

// Returns the text after `begin` and before `end` in the line.
std::optional<std::string_view> between(std::string_view line, std::string_view begin,
                                        std::string_view end) {
  const std::size_t at = line.find(begin);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(at + begin.size());
  const std::size_t stop = end.empty() ? line.size() : line.rfind(end);
  return stop == std::string_view::npos || stop == 0 ? std::nullopt
                                                     : std::optional(line.substr(0, stop));
}

} // namespace

PatchLog parse_patch_log(std::string_view text) {
  PatchLog log;
  std::vector<std::string> patched;
  std::unordered_set<std::string> failed;
  const auto fail = [&](std::string_view name) {
    if (failed.emplace(name).second) {
      log.failed.emplace_back(name);
    }
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with("dynamic:")) {
      const std::string plain = last_plain_line(line);
      log.message = plain.empty() ? log.message : plain;
    } else if (const auto forced = between(line, "force patch normal func: ", " (patch size: ")) {
      patched.emplace_back(*forced);
    } else if (const auto updated = between(line, " for '", "' function")) {
      patched.emplace_back(*updated);
    } else if (const auto refused = between(line, ">> FAIL: ", "")) {
      fail(*refused);
    } else if (const auto skipped = between(line, ">> SKIP: ", "")) {
      fail(*skipped);
    } else if (const auto jumped = between(line, "bad jump: ", " to ")) {
      if (const std::size_t colon = jumped->rfind(':'); colon != std::string_view::npos) {
        const std::string name(jumped->substr(0, colon));
        if (std::ranges::find(patched, name) != patched.end()) {
          fail(name);
        }
      }
    }
  }
  std::ranges::copy_if(patched, std::back_inserter(log.patched),
                       [&](const std::string& name) { return !failed.contains(name); });
  return log;
}

std::string last_plain_line(std::string_view text) {
  std::string line;
  std::string last;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || text[at] == '\n' || text[at] == '\r') {
      if (line.find_first_not_of(" \t") != std::string::npos) {
        last = line;
      }
      line.clear();
    } else if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size() - 1); // "\x1b[31m"
    } else {
      line += text[at];
    }
  }
  return last;
}

} // namespace ptlens::record
