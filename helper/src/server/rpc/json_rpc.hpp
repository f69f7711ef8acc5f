// JSON-RPC 2.0: the messages that the helper reads and writes. This is the one place that gives an
// Error of the helper its code on the wire.
#pragma once

#include "base/error.hpp"
#include "protocol/types.hpp"

#include <nlohmann/json.hpp>

#include <expected>
#include <string>
#include <string_view>

namespace ptlens::server {

using protocol::Input;
using protocol::Json;

namespace code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int not_initialized = -32002;   // LSP
inline constexpr int request_cancelled = -32800; // LSP
inline constexpr int bad_input = -32010;         // ours: Error::Kind
inline constexpr int not_found = -32011;
inline constexpr int no_rights = -32012;
inline constexpr int unsupported = -32013;
inline constexpr int gone = -32014;
inline constexpr int failed = -32015;
inline constexpr int ambiguous = -32016;
} // namespace code

// The error that answers a request.
struct Fault {
  int code = code::internal_error;
  std::string message = {};
  Json data = nullptr; // null: none
};

using Answer = std::expected<Json, Fault>;

[[nodiscard]] Fault fault_of(const Error& error);
[[nodiscard]] Fault fault_of(const protocol::BadField& bad);

struct Incoming {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  Json id = nullptr; // string or integer
  std::string method;
  Input params; // null, object or array
};

struct Refusal {
  Json id = nullptr;
  Fault fault;
};

// Reads one message. Refuses text that is not JSON or is nested deeper than 64 levels (-32700), and
// JSON that is not a message, batches included (-32600).
[[nodiscard]] std::expected<Incoming, Refusal> read_message(std::string_view text);

[[nodiscard]] Json result_message(const Json& id, Json result);
[[nodiscard]] Json fault_message(const Json& id, const Fault& fault);
[[nodiscard]] Json notification(std::string_view method, Json params);
[[nodiscard]] Json request_message(const Json& id, std::string_view method);

// Returns an id or a progress token, which is a string or an integer; null for anything else.
[[nodiscard]] Json token_of(const Input& value);

} // namespace ptlens::server
