// The values of the protocol that are not structures.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <variant>

namespace ptlens::protocol {

using Json = nlohmann::ordered_json; // what the helper writes: fields keep their order
using Input = nlohmann::json;        // what a client sends

struct Interval {
  std::optional<double> low; // nothing: no bound
  std::optional<double> high;
};

using ProgressToken = std::variant<std::int64_t, std::string>;

// A field that does not match the schema.
struct BadField {
  std::string path;    // for example "function.address"; empty: the parameters themselves
  std::string message; // for a person, with the path
};

template <class T>
using Read = std::expected<T, BadField>;

// Returns the error for a field: "PATH WHAT".
[[nodiscard]] BadField bad_field(std::string path, const std::string& what);

// Returns "0x401136".
[[nodiscard]] std::string hexadecimal(std::uint64_t address);

} // namespace ptlens::protocol
