#include "engine/waits/wait_file.hpp"

#include "base/checksum.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::engine {
namespace {

using Json = nlohmann::json;
using waits::Wait;
using waits::Waits;

struct Row {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t woken = 0;
  std::int32_t tid = -1;
  std::int32_t waker_tid = -1;
  std::int32_t next_tid = -1;
  std::uint32_t stack = 0;
  std::uint32_t kernel = 0;
  std::uint32_t waker_stack = 0;
  std::uint8_t reason = 0;
  std::uint8_t flags = 0;
  std::uint8_t waker = 0;
  std::uint8_t interrupt = 0;
  std::int32_t waker_pid = -1; // of another process
};
static_assert(sizeof(Row) == 56);

constexpr std::uint8_t likely_flag = 1;
constexpr std::uint8_t unfinished_flag = 2;

Row row_of(const Wait& wait) {
  return {.begin = wait.begin,
          .end = wait.end,
          .woken = wait.waker.time_ns,
          .tid = wait.tid,
          .waker_tid = wait.waker.tid,
          .next_tid = wait.next_tid,
          .stack = index_of(wait.stack),
          .kernel = index_of(wait.kernel),
          .waker_stack = index_of(wait.waker.stack),
          .reason = static_cast<std::uint8_t>(wait.reason),
          .flags = static_cast<std::uint8_t>((wait.likely ? likely_flag : 0) |
                                             (wait.unfinished ? unfinished_flag : 0)),
          .waker = static_cast<std::uint8_t>(wait.waker.kind),
          .interrupt = static_cast<std::uint8_t>(wait.waker.interrupt),
          .waker_pid = wait.waker.other_pid};
}

// Returns nothing where a number has no meaning.
std::optional<Wait> wait_of(const Row& row, const Waits& waits) {
  const auto is_known = [](const auto& list, auto id) {
    return id == decltype(id)::none || list.has(id);
  };
  Wait wait{.tid = row.tid,
            .begin = row.begin,
            .end = row.end,
            .reason = static_cast<waits::Reason>(row.reason),
            .likely = (row.flags & likely_flag) != 0,
            .unfinished = (row.flags & unfinished_flag) != 0,
            .stack = waits::StackId{row.stack},
            .kernel = waits::KernelFunctionId{row.kernel},
            .waker = {.kind = static_cast<waits::Waker::Kind>(row.waker),
                      .interrupt = static_cast<waits::Interrupt>(row.interrupt),
                      .tid = row.waker_tid,
                      .other_pid = row.waker_pid,
                      .time_ns = row.woken,
                      .stack = waits::StackId{row.waker_stack}},
            .next_tid = row.next_tid};
  const bool good = row.reason < waits::reasons &&
                    row.waker <= static_cast<std::uint8_t>(waits::Waker::Kind::outside) &&
                    row.interrupt <= static_cast<std::uint8_t>(waits::Interrupt::network) &&
                    row.begin <= row.end && is_known(waits.stacks, wait.stack) &&
                    is_known(waits.stacks, wait.waker.stack) &&
                    is_known(waits.kernel_functions, wait.kernel);
  return good ? std::optional(wait) : std::nullopt;
}

Json body_of(const Waits& waits) {
  std::vector<std::uint8_t> rows(waits.all.size() * sizeof(Row));
  for (std::size_t at = 0; at < waits.all.size(); ++at) {
    const Row row = row_of(waits.all[at]);
    std::memcpy(&rows[at * sizeof row], &row, sizeof row);
  }
  Json functions = Json::array();
  for (const stacks::FunctionInfo& function : waits.functions) {
    functions.push_back(Json::array({function.name, function.binary, function.address,
                                     function.file, function.line, function.end_line}));
  }
  Json sites = Json::array();
  for (const stacks::CallSite& site : waits.sites) {
    sites.push_back(Json::array({index_of(site.function), site.address, site.file, site.line}));
  }
  Json frames = Json::array();
  for (const std::vector<stacks::SiteId>& stack : waits.stacks) {
    Json numbers = Json::array();
    for (const stacks::SiteId site : stack) {
      numbers.push_back(index_of(site));
    }
    frames.push_back(std::move(numbers));
  }
  Json names = Json::array();
  for (const auto& [tid, name] : waits.thread_names) {
    names.push_back(Json::array({tid, name}));
  }
  return {
      {"recorded", waits.recorded},
      {"without_names", waits.without_names},
      {"functions", std::move(functions)},
      {"sites", std::move(sites)},
      {"stacks", std::move(frames)},
      {"kernel_functions", static_cast<const std::vector<std::string>&>(waits.kernel_functions)},
      {"thread_names", std::move(names)},
      {"rows", Json::binary(std::move(rows))}};
}

// Reads a body whose checksum agreed, so that its types are those that body_of() wrote. What its
// numbers refer to is checked all the same.
std::optional<Waits> waits_of(const Json& body) {
  Waits waits;
  waits.recorded = body.at("recorded").get<bool>();
  waits.without_names = body.at("without_names").get<std::uint64_t>();
  for (const Json& each : body.at("functions")) {
    waits.functions.push_back({.name = each.at(0).get<std::string>(),
                               .binary = each.at(1).get<std::string>(),
                               .address = each.at(2).get<std::uint64_t>(),
                               .file = each.at(3).get<std::string>(),
                               .line = each.at(4).get<std::uint32_t>(),
                               .end_line = each.at(5).get<std::uint32_t>()});
  }
  for (const Json& each : body.at("sites")) {
    const stacks::FunctionId function{each.at(0).get<std::uint32_t>()};
    if (function != stacks::FunctionId::none && !waits.functions.has(function)) {
      return std::nullopt;
    }
    waits.sites.push_back({.function = function,
                           .address = each.at(1).get<std::uint64_t>(),
                           .file = each.at(2).get<std::string>(),
                           .line = each.at(3).get<std::uint32_t>()});
  }
  for (const Json& each : body.at("stacks")) {
    std::vector<stacks::SiteId>& stack = waits.stacks.emplace_back();
    for (const Json& number : each) {
      stack.push_back(stacks::SiteId{number.get<std::uint32_t>()});
      if (!waits.sites.has(stack.back())) {
        return std::nullopt;
      }
    }
  }
  for (const Json& each : body.at("kernel_functions")) {
    waits.kernel_functions.push_back(each.get<std::string>());
  }
  for (const Json& each : body.at("thread_names")) {
    waits.thread_names.emplace(each.at(0).get<std::int32_t>(), each.at(1).get<std::string>());
  }
  const std::vector<std::uint8_t>& rows = body.at("rows").get_binary();
  if (rows.size() % sizeof(Row) != 0) {
    return std::nullopt;
  }
  for (std::size_t at = 0; at < rows.size(); at += sizeof(Row)) {
    Row row;
    std::memcpy(&row, &rows[at], sizeof row);
    const auto wait = wait_of(row, waits);
    if (!wait) {
      return std::nullopt;
    }
    waits.all.push_back(*wait);
  }
  return waits;
}

std::uint64_t hash_of(std::string_view bytes) {
  return checksum(std::as_bytes(std::span(bytes)));
}

std::string cbor(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

constexpr std::size_t header_bytes = 2 * sizeof(std::uint64_t); // length of the key, checksum

} // namespace

std::string wait_bytes(const Waits& waits, std::string_view key) {
  const std::string rest = std::string(key) + cbor(body_of(waits));
  const std::uint64_t key_bytes = key.size();
  const std::uint64_t hash = hash_of(rest);
  std::string bytes(header_bytes, '\0');
  std::memcpy(bytes.data(), &key_bytes, sizeof key_bytes);
  std::memcpy(bytes.data() + sizeof key_bytes, &hash, sizeof hash);
  return bytes + rest;
}

std::optional<StoredWaits> waits_from(std::string_view bytes) {
  std::uint64_t key_bytes = 0;
  std::uint64_t hash = 0;
  if (bytes.size() < header_bytes) {
    return std::nullopt;
  }
  std::memcpy(&key_bytes, bytes.data(), sizeof key_bytes);
  std::memcpy(&hash, bytes.data() + sizeof key_bytes, sizeof hash);
  const std::string_view rest = bytes.substr(header_bytes);
  if (key_bytes > rest.size() || hash_of(rest) != hash) {
    return std::nullopt;
  }
  const std::string_view body = rest.substr(key_bytes);
  try {
    auto read = waits_of(Json::from_cbor(body.begin(), body.end(), true, false));
    if (!read) {
      return std::nullopt;
    }
    return StoredWaits{.key = std::string(rest.substr(0, key_bytes)), .waits = std::move(*read)};
  } catch (const Json::exception&) { // a missing field, or one of another type
    return std::nullopt;
  }
}

} // namespace ptlens::engine
