// JSON-RPC 2.0.
#include "server/rpc/json_rpc.hpp"

#include "protocol/messages.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace ptlens::server {

namespace {

constexpr int deepest = 64;

// Returns the deepest nesting of brackets outside strings.
int nesting(std::string_view text) {
  int depth = 0;
  int most = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    if (in_string) {
      if (character == '\\') {
        ++at;
      } else if (character == '"') {
        in_string = false;
      }
    } else if (character == '"') {
      in_string = true;
    } else if (character == '[' || character == '{') {
      most = std::max(most, ++depth);
    } else if (character == ']' || character == '}') {
      --depth;
    }
  }
  return most;
}

struct Named {
  Error::Kind kind;
  int code;
  const char* name;
};

constexpr Named named_kinds[] = {{Error::Kind::failed, code::failed, "failed"},
                                 {Error::Kind::bad_input, code::bad_input, "bad_input"},
                                 {Error::Kind::not_found, code::not_found, "not_found"},
                                 {Error::Kind::no_rights, code::no_rights, "no_rights"},
                                 {Error::Kind::unsupported, code::unsupported, "unsupported"},
                                 {Error::Kind::gone, code::gone, "gone"},
                                 {Error::Kind::cancelled, code::request_cancelled, "cancelled"},
                                 {Error::Kind::ambiguous, code::ambiguous, "ambiguous"}};

std::unexpected<Refusal> refuse(Json id, int code, const char* message) {
  return std::unexpected(Refusal{.id = std::move(id), .fault = {.code = code, .message = message}});
}

} // namespace

Fault fault_of(const Error& error) {
  const Named& named = *std::ranges::find(named_kinds, error.kind, &Named::kind);
  protocol::ErrorData data{.kind = named.name,
                           .file = error.file,
                           .offset = error.offset,
                           .remedy = error.remedy,
                           .candidates = {}};
  if (error.kind == Error::Kind::ambiguous) {
    auto& candidates = data.candidates.emplace();
    for (const Error::Candidate& each : error.candidates) {
      candidates.push_back({.name = each.name, .binary = each.binary, .address = each.address});
    }
  }
  return {.code = named.code, .message = error.message, .data = to_json(data)};
}

Fault fault_of(const protocol::BadField& bad) {
  return {.code = code::invalid_params,
          .message = bad.message,
          .data = to_json(protocol::InvalidParamsData{.path = bad.path})};
}

Json token_of(const Input& value) {
  if (value.is_string()) {
    return value.get_ref<const std::string&>();
  }
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  return nullptr;
}

std::expected<Incoming, Refusal> read_message(std::string_view text) {
  if (nesting(text) > deepest) {
    return refuse(nullptr, code::parse_error, "the message is nested deeper than 64 levels");
  }
  Input message = Input::parse(text, nullptr, false);
  if (message.is_discarded()) {
    return refuse(nullptr, code::parse_error, "the message is not JSON in UTF-8");
  }
  if (!message.is_object()) {
    return refuse(nullptr, code::invalid_request,
                  "a message is one object; LSP has no batches of messages");
  }
  const auto id_field = message.find("id");
  const bool has_id = id_field != message.end();
  Json id = has_id ? token_of(*id_field) : Json(nullptr);
  const auto version = message.find("jsonrpc");
  if (version == message.end() || *version != "2.0") {
    return refuse(std::move(id), code::invalid_request, "jsonrpc must be \"2.0\"");
  }
  Incoming incoming;
  const auto method = message.find("method");
  if (method == message.end()) {
    if (!message.contains("result") && !message.contains("error")) {
      return refuse(std::move(id), code::invalid_request, "the message has no method");
    }
    incoming.kind = Incoming::Kind::response;
    return incoming;
  }
  if (!method->is_string()) {
    return refuse(std::move(id), code::invalid_request, "method must be a string");
  }
  if (has_id && id.is_null()) {
    return refuse(nullptr, code::invalid_request, "id must be a string or an integer");
  }
  if (const auto params = message.find("params"); params != message.end()) {
    if (!params->is_structured() && !params->is_null()) {
      return refuse(std::move(id), code::invalid_request, "params must be an object or an array");
    }
    incoming.params = std::move(*params);
  }
  incoming.kind = has_id ? Incoming::Kind::request : Incoming::Kind::notification;
  incoming.id = std::move(id);
  incoming.method = method->get<std::string>();
  return incoming;
}

Json result_message(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json fault_message(const Json& id, const Fault& fault) {
  Json error = {{"code", fault.code}, {"message", fault.message}};
  if (!fault.data.is_null()) {
    error["data"] = fault.data;
  }
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

Json notification(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

Json request_message(const Json& id, std::string_view method) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
}

} // namespace ptlens::server
