// The parameters of the methods under ptlens/, read from the wire; protocol.schema.json in the
// extension declares them.
#pragma once

#include "base/words.hpp"
#include "engine/recording/source_map.hpp"
#include "measure/flame/flame.hpp"
#include "measure/selection/selection.hpp"
#include "record/recorder.hpp"
#include "server/rpc/json_rpc.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace ptlens::server {

struct FunctionSelector {
  std::string name;
  std::string binary;
  std::optional<std::uint64_t> address; // ELF
  bool all = false;                     // that answer to the name
};

struct DoctorRequest {
  std::string perf;
  std::string binary;
  Words say = {}; // not of the request: the client's language
};

struct FunctionAtRequest {
  std::string file;
  std::uint32_t line = 0; // 1-based
  std::string name;
  std::optional<std::int32_t> pid;
  std::string program;
  std::string symbol = {};       // around the line, as a language server names it, in its scopes
  std::uint32_t symbol_line = 0; // of that name, 0: none
};

struct RecordRequest {
  record::Request request; // `output` empty: choose one
  std::string folder = {}; // that the chosen one is in, empty: the user's
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
  FunctionSelector function = {}; // asked about first; without a name: none
  bool activate = true;           // lenses and hovers are of it from now on
};

struct BundleRequest {
  std::string id;        // of an open recording; empty: the one at the path of
  OpenRequest recording; // this
  std::string output;
};

struct ActivateRequest {
  std::string id;       // empty: none
  std::string baseline; // that it is compared with, empty: none
};

struct StoreRequest {
  OpenRequest recording;
  bool remove = false;
};

struct LinesRequest {
  std::string id;
  std::string file;
};

struct ReportRequest {
  std::string id;
  FunctionSelector function;
  measure::Selection selection;
  bool inlined = false; // also of a function that was called: decodes again
};

struct FlameRequest {
  std::string id;
  std::optional<FunctionSelector> function;
  measure::FlameTime time = measure::FlameTime::wall;
  double smallest = 0.0005;
  measure::Selection selection;
};

struct CallsRequest {
  std::string id;
  FunctionSelector function;
  measure::Selection selection;
  std::uint64_t offset = 0;
  std::uint64_t limit = 10'000;
};

template <class T>
using Read = std::expected<T, Fault>; // Fault: -32602 with the path of the field

[[nodiscard]] Read<DoctorRequest> read_doctor(const Input& params);
// The source file.
[[nodiscard]] Read<std::string> read_processes(const Input& params);
// The process.
[[nodiscard]] Read<std::int32_t> read_threads(const Input& params);
[[nodiscard]] Read<BundleRequest> read_bundle(const Input& params);
[[nodiscard]] Read<FunctionAtRequest> read_function_at(const Input& params);
[[nodiscard]] Read<RecordRequest> read_record(const Input& params);
[[nodiscard]] Read<OpenRequest> read_open(const Input& params);
[[nodiscard]] Read<ActivateRequest> read_activate(const Input& params);
[[nodiscard]] Read<StoreRequest> read_store(const Input& params);
// The id of a recording.
[[nodiscard]] Read<std::string> read_id(const Input& params);
[[nodiscard]] Read<ReportRequest> read_report(const Input& params);
[[nodiscard]] Read<LinesRequest> read_lines(const Input& params);
[[nodiscard]] Read<FlameRequest> read_flame(const Input& params);
[[nodiscard]] Read<CallsRequest> read_calls(const Input& params);

struct Place {
  std::string file;
  std::uint32_t line = 0; // 1-based, 0: none
};

struct AnnotationsRequest {
  std::string file; // as the editor names it
  std::uint32_t first = 1;
  std::uint32_t last = UINT32_MAX; // present lines, 1-based, both included
  bool heat = false;               // of all lines of the file as well
};
[[nodiscard]] Read<AnnotationsRequest> read_annotations(const Input& params);

struct PresentLineRequest {
  std::string recorded; // the file as a result names it
  std::string file;     // as the editor names it
  std::uint32_t line = 1;
};
[[nodiscard]] Read<PresentLineRequest> read_present_line(const Input& params);

// textDocument and range of an inlay hint request.
[[nodiscard]] Read<AnnotationsRequest> read_inlay_range(const Input& params);

// textDocument and, for a hover, position.
[[nodiscard]] Read<Place> read_place(const Input& params, bool has_position);

// The path of file:///a%20b and the like, also of other schemes with a path.
[[nodiscard]] std::string path_of_uri(const std::string& uri);

} // namespace ptlens::server
