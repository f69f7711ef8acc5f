// From the parameters of a request to its answer.
#pragma once

#include "server/rpc/json_rpc.hpp"

#include <utility>

namespace ptlens::server {

inline Answer answer_of(Result<Json> result) {
  if (!result) {
    return std::unexpected(fault_of(result.error()));
  }
  return std::move(*result);
}

// Reads the parameters with `read` and asks `ask`, which gives a Result<Json>.
template <class Reader, class Ask>
Answer ask(const Input& params, Reader read, Ask ask) {
  auto request = read(params);
  if (!request) {
    return std::unexpected(std::move(request.error()));
  }
  return answer_of(ask(*request));
}

} // namespace ptlens::server
