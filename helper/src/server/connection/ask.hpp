// From the parameters of a request to its answer.
#pragma once

#include "server/requests/requests.hpp"
#include "server/rpc/json_rpc.hpp"

#include <utility>

namespace ptlens::server {

[[nodiscard]] Answer answer_of(Result<Json> result);

// Reads and converts the parameters of a method, and returns what `use` makes of the request, which
// is a Result<Json>.
template <class Parameters, class Use>
Answer ask(const Input& params, const Use& use) {
  auto read = protocol::read_parameters<Parameters>(params);
  if (!read) {
    return std::unexpected(fault_of(read.error()));
  }
  auto request = to_request(std::move(*read));
  if (!request) {
    return std::unexpected(fault_of(request.error()));
  }
  return answer_of(use(*request));
}

} // namespace ptlens::server
