// Requests whose C++ types are richer than the parameters in the protocol, and the one place that
// converts them. Other methods use the generated structures as they are.
#pragma once

#include "engine/recording/source_map.hpp"
#include "measure/distribution/distribution.hpp"
#include "measure/explain/slow_and_typical.hpp"
#include "measure/flame/flame.hpp"
#include "measure/selection/call_page.hpp"
#include "measure/selection/selection.hpp"
#include "protocol/messages.hpp"
#include "record/recorder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::server {

using protocol::FunctionSelector;
using protocol::Json;
using protocol::Read;

struct RecordRequest {
  record::Request request; // `output` empty: choose a new folder
  std::string folder = {}; // where the new folder is made; empty: in the user's state directory
  std::string symfs;
  engine::SourceMap source_map = {};
};

struct OpenRequest {
  std::string path;
  std::string symfs;
  std::string kallsyms = {}; // as in engine::OpenOptions, like the next two
  std::string kcore = {};
  std::optional<std::int32_t> pid = {};
  engine::SourceMap source_map = {};
  FunctionSelector function = {}; // partial results report this function; no name: none
  bool activate = true;           // lenses and hovers show this recording from now on
};

struct BundleRequest {
  std::string id;        // of an open recording; empty: bundle `recording`
  OpenRequest recording; // not open
  std::string output;
};

struct CacheRequest {
  OpenRequest recording;
  bool remove = false;
};

struct ReportRequest {
  std::string id;
  FunctionSelector function;
  measure::Selection selection;
  bool inlined = false; // also count inlined executions of a called function: decodes again
};

struct FlameRequest {
  std::string id;
  std::optional<FunctionSelector> function;
  measure::FlameTime time = measure::FlameTime::wall;
  double smallest = 0;
  std::vector<FunctionSelector> focus; // a stack, from the first level on
  bool waits = false;                  // as frames
  measure::Selection selection;
};

struct CallsRequest {
  std::string id;
  std::optional<FunctionSelector> function; // absent: all functions
  measure::Selection selection;
  measure::PageRequest page;
  bool details = false; // with numbers and longest parts
};

struct ExplainRequest {
  std::string id;
  FunctionSelector function;
  measure::Selection selection;
  measure::SetChoice sets;
  std::string slow; // as it was written, like `typical`
  std::string typical;
};

struct WaitsRequest {
  std::string id;
  std::optional<FunctionSelector> function;
  measure::Selection selection;
};

struct DistributionRequest {
  std::string id;
  FunctionSelector function;
  measure::Selection selection;
  measure::DistributionShape shape;
};

// Each converts the parameters, or returns the first bad field.
[[nodiscard]] Read<RecordRequest> to_request(protocol::RecordParams params);
[[nodiscard]] Read<OpenRequest> to_request(protocol::OpenParams params);
[[nodiscard]] Read<BundleRequest> to_request(protocol::BundleParams params);
[[nodiscard]] Read<CacheRequest> to_request(protocol::CacheParams params);
[[nodiscard]] Read<ReportRequest> to_request(protocol::ReportParams params);
[[nodiscard]] Read<FlameRequest> to_request(protocol::FlameParams params);
[[nodiscard]] Read<CallsRequest> to_request(protocol::CallsParams params);
[[nodiscard]] Read<ExplainRequest> to_request(protocol::ExplainParams params);
[[nodiscard]] Read<WaitsRequest> to_request(protocol::WaitsParams params);
[[nodiscard]] Read<DistributionRequest> to_request(protocol::DistributionParams params);

// Parameters that need no conversion.
template <class Parameters>
[[nodiscard]] Read<Parameters> to_request(Parameters params) {
  return params;
}

} // namespace ptlens::server
