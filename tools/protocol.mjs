// Writes the C++ half of the protocol from extension/protocol.schema.json: a structure and a reader
// for the parameters of each method, and a structure and a writer for the results listed below.
//   node tools/protocol.mjs FOLDER      writes FOLDER/protocol/messages.hpp and messages.cpp
// The helper's build runs this file before `npm ci`, so it uses Node's own modules only.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const schema = JSON.parse(readFileSync(path.join(root, "extension/protocol.schema.json"), "utf8"));
const { definitions } = schema;

/** Results that the helper writes from structures. export/json writes the large results as text. */
const written = [
  "AnnotationsResult",
  "BundleResult",
  "CacheResult",
  "DoctorResult",
  "ErrorData",
  "FinishResult",
  "FunctionAtResult",
  "IdentifyResult",
  "InvalidParamsData",
  "PresentLineResult",
  "ProcessesResult",
  "ShownReport",
  "ThreadsResult",
];

/** Parameters that any LSP request may have. The connection reads them. */
const anyRequest = ["workDoneToken"];

/** Definitions that are not structures: C++ type, and the reader's member function. */
const special = {
  Address: { type: "std::uint64_t", read: "address", write: "hexadecimal" },
  AddressOrUnknown: { type: "std::uint64_t", read: "address", write: "hexadecimal", nullable: true },
  Interval: { type: "Interval", read: "interval" },
  StringMap: { type: "std::map<std::string, std::string>", read: "strings_by_name" },
  ProgressToken: { type: "ProgressToken", read: "token" },
};

const keywords = new Set(["auto", "default", "delete", "new", "not", "operator", "register", "signed", "template", "this", "union"]);
const identifier = (name) => (keywords.has(name) ? `${name}_` : name);
const fail = (where, what) => {
  throw new Error(`extension/protocol.schema.json: ${where}: ${what}`);
};
const nameOf = (reference) => reference.replace("#/definitions/", "");

/** The property without its description: {$ref}, or a schema; `nullable` where null is a value. */
function resolved(property) {
  if (property.allOf?.length === 1) return { ...resolved(property.allOf[0]), default: property.default };
  if (property.anyOf?.length === 2 && property.anyOf[1].type === "null") return { ...resolved(property.anyOf[0]), nullable: true };
  if (Array.isArray(property.type) && property.type[1] === "null") return { ...property, type: property.type[0], nullable: true };
  return property;
}

const int32 = 2 ** 31 - 1;
const uint32 = 2 ** 32 - 1;
function integerType({ minimum, maximum }) {
  if (maximum !== undefined && maximum <= int32) return "std::int32_t";
  if (minimum >= 0) return maximum <= uint32 ? "std::uint32_t" : "std::uint64_t";
  return "std::int64_t";
}

const quoted = (text) => JSON.stringify(text);

/** How C++ holds, reads and writes a property. `input`: it belongs to parameters. */
function kindOf(property, where, input) {
  const { $ref, type, items, enum: values, const: constant, nullable } = property;
  if (constant !== undefined) return { constant };
  if ($ref !== undefined) {
    const name = nameOf($ref);
    const definition = definitions[name] ?? fail(where, `there is no ${name}`);
    if (special[name]) return { nullable, ...special[name] };
    if (definition.enum) return input ? { type: name, choices: name, nullable } : { type: "std::string", nullable };
    if (definition.type === "object") return { type: name, structure: name, nullable };
    fail(where, `${name} has no C++ type`);
  }
  if (values) return input ? fail(where, "choices need a definition of their own") : { type: "std::string", nullable };
  switch (type) {
    case "string":
      return { type: "std::string", read: "text", arguments: [property.minLength ?? 0], nullable };
    case "boolean":
      return { type: "bool", read: "flag", nullable };
    case "integer":
      return { type: integerType(property), read: "integer", arguments: [property.minimum ?? "lowest_integer", property.maximum ?? "highest_integer"], cast: true, nullable };
    case "number":
      return { type: "double", read: "number", arguments: [property.minimum ?? "lowest_number", property.maximum ?? "highest_number"], nullable };
    case "array": {
      if (Array.isArray(items)) fail(where, "lists of fixed entries are not supported");
      const item = kindOf(resolved(items), where, input);
      const list = { type: `std::vector<${item.type}>`, item, nullable };
      if (!input) return list;
      const most = property.maxItems ?? 0;
      if ((item.structure || item.choices) && most === 0) fail(where, "this list needs maxItems");
      if (item.structure || item.choices) return { ...list, most };
      if (item.type === "std::string") return { ...list, read: "texts" };
      if (item.type === "std::int32_t") return { ...list, read: "integers", arguments: item.arguments };
      return fail(where, "parameters cannot be lists of this type");
    }
    default:
      return fail(where, "this schema has no C++ type");
  }
}

function initial(kind, value) {
  if (value === undefined) return kind.type.startsWith("std::") && !/int|double/.test(kind.type) ? "" : " = {}";
  if (kind.choices) return ` = ${kind.type}::${identifier(value)}`;
  if (typeof value === "string") return value === "" ? "" : ` = ${quoted(value)}`;
  if (typeof value === "object") return Object.keys(value).length === 0 ? "" : fail("default", "only an empty list or object is supported");
  if (kind.type.startsWith("std::uint")) return ` = ${value}U`;
  return ` = ${value}`;
}

/** The fields of a structure, in the order of the schema. */
function fieldsOf(name, input) {
  const { properties, required } = definitions[name];
  return Object.entries(properties)
    .filter(([field]) => !anyRequest.includes(field))
    .map(([field, schemaOf]) => {
      const property = resolved(schemaOf);
      const kind = kindOf(property, `${name}.${field}`, input);
      const isRequired = required.includes(field);
      const value = property.default ?? schemaOf.default;
      return { field, kind, isRequired, value, optional: kind.nullable === true || (!isRequired && value === undefined) };
    });
}

function declaration(name, input) {
  const { description } = definitions[name];
  const lines = fieldsOf(name, input)
    .filter(({ kind }) => kind.constant === undefined)
    .map(({ field, kind, value, optional }) =>
      optional ? `  std::optional<${kind.type}> ${identifier(field)} = {};` : `  ${kind.type} ${identifier(field)}${initial(kind, value) || " = {}"};`,
    );
  return `${description ? comment(description) : ""}struct ${name} {\n${lines.join("\n")}\n};\n`;
}

function comment(text) {
  const lines = [];
  let line = "//";
  for (const word of text.split(/\s+/)) {
    if (line.length + 1 + word.length > 100) {
      lines.push(line);
      line = "//";
    }
    line += ` ${word}`;
  }
  return [...lines, line, ""].join("\n");
}

function reader(name) {
  const known = [...Object.keys(definitions[name].properties)].map(quoted).join(", ");
  const lines = fieldsOf(name, true).flatMap(({ field, kind, isRequired, optional }) => {
    const out = `out.${identifier(field)}`;
    const key = quoted(field);
    const check = isRequired ? [`  fields.require(${key});`] : [];
    if (kind.structure) {
      const target = optional ? `${out}.emplace()` : out;
      return [...check, `  if (fields.has(${key})) {`, `    read(fields.child(${key}), ${target});`, "  }"];
    }
    if (kind.choices) {
      return [...check, `  if (const auto value = fields.choice(${key}, names_of_${kind.choices})) {`, `    ${out} = static_cast<${kind.type}>(*value);`, "  }"];
    }
    if (kind.item?.structure) {
      return [...check, `  for (const Fields& each : fields.children(${key}, ${kind.most})) {`, `    read(each, ${out}.emplace_back());`, "  }"];
    }
    if (kind.item?.choices) {
      const name = kind.item.choices;
      return [...check, `  for (const std::size_t value : fields.choices(${key}, names_of_${name}, ${kind.most})) {`, `    ${out}.push_back(static_cast<${name}>(value));`, "  }"];
    }
    const call = `fields.${kind.read}(${[key, ...(kind.arguments ?? [])].join(", ")})`;
    const value = kind.cast ? `static_cast<${kind.type}>(*value)` : "std::move(*value)";
    return [...check, `  if (auto value = ${call}) {`, `    ${out} = ${value};`, "  }"];
  });
  return `void read(const Fields& fields, ${name}& out) {\n  fields.allow_only({${known}});\n${lines.join("\n")}\n}\n`;
}

function writer(name) {
  const lines = fieldsOf(name, false).flatMap(({ field, kind, isRequired, optional }) => {
    const out = `json[${quoted(field)}]`;
    if (kind.constant !== undefined) return [`  ${out} = ${quoted(kind.constant)};`];
    const member = `value.${identifier(field)}`;
    const asJson = (text) => {
      if (kind.structure || kind.item?.structure) return `to_json(${text})`;
      if (kind.item?.write) return fail(`${name}.${field}`, "lists of addresses are not supported");
      return kind.write ? `${kind.write}(${text})` : text;
    };
    if (!optional) return [`  ${out} = ${asJson(member)};`];
    const absent = isRequired ? [" else {", `    ${out} = nullptr;`, "  }"].join("\n") : "";
    return [`  if (${member}) {`, `    ${out} = ${asJson(`*${member}`)};`, `  }${absent}`];
  });
  const unused = lines.length === 0 ? " /*value*/" : " value";
  return `Json to_json(const ${name}&${unused}) {\n  Json json = Json::object();\n${lines.join("\n")}\n  return json;\n}\n`;
}

/** The structures that the given ones use, each before its user, then themselves. */
function withUsed(names, input, found = []) {
  for (const name of names) {
    const used = fieldsOf(name, input).map(({ kind }) => kind.structure ?? kind.item?.structure);
    withUsed(used.filter((each) => each !== undefined), input, found);
    if (!found.includes(name)) found.push(name);
  }
  return found;
}

const isRequest = ({ properties }) => properties.params && properties.result;
const parameters = Object.values(schema.properties)
  .filter(isRequest)
  .map(({ properties: { params } }) => nameOf(resolved(params).$ref));
const inputs = withUsed([...new Set(parameters)], true);
const outputs = withUsed(written, false);
const both = inputs.find((name) => outputs.includes(name));
if (both !== undefined) fail(both, "a structure is either read or written");
const choices = [...new Set(inputs.flatMap((name) => fieldsOf(name, true).map(({ kind }) => kind.choices ?? kind.item?.choices)))].filter((name) => name !== undefined);

const banner = "// Generated from extension/protocol.schema.json by tools/protocol.mjs. Do not edit.\n";
const header = `${banner}#pragma once

#include "protocol/fields.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::protocol {

${choices.map((name) => `${comment(definitions[name].description)}enum class ${name} { ${definitions[name].enum.map(identifier).join(", ")} };\n[[nodiscard]] const char* name_of(${name} value);\n`).join("\n")}
${inputs.map((name) => `${declaration(name, true)}\n`).join("")}
${inputs.map((name) => `void read(const Fields& fields, ${name}& out);`).join("\n")}

// Reads the parameters of a request, or returns the first bad field.
template <class Parameters> [[nodiscard]] Read<Parameters> read_parameters(const Input& params) {
  std::optional<BadField> bad;
  Parameters parameters;
  read(Fields(params, "", bad), parameters);
  if (bad) {
    return std::unexpected(std::move(*bad));
  }
  return parameters;
}

${outputs.map((name) => `${declaration(name, false)}\n`).join("")}
${outputs.map((name) => `[[nodiscard]] Json to_json(const ${name}& value);`).join("\n")}

} // namespace ptlens::protocol
`;
const source = `${banner}#include "protocol/messages.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace ptlens::protocol {
namespace {

${choices.map((name) => `constexpr std::array<const char*, ${definitions[name].enum.length}> names_of_${name} = {${definitions[name].enum.map(quoted).join(", ")}};`).join("\n")}

template <class Structure> Json to_json(const std::vector<Structure>& values) {
  Json list = Json::array();
  for (const Structure& value : values) {
    list.push_back(protocol::to_json(value));
  }
  return list;
}

} // namespace

${choices.map((name) => `const char* name_of(${name} value) {\n  return names_of_${name}.at(static_cast<std::size_t>(value));\n}\n`).join("\n")}
${inputs.map(reader).join("\n")}
${outputs.map(writer).join("\n")}
} // namespace ptlens::protocol
`;

function writeIfChanged(file, text) {
  let present = "";
  try {
    present = readFileSync(file, "utf8");
  } catch {
    mkdirSync(path.dirname(file), { recursive: true });
  }
  if (present !== text) writeFileSync(file, text);
}

const folder = process.argv[2];
if (folder === undefined) {
  console.error("usage: node tools/protocol.mjs FOLDER");
  process.exit(2);
}
writeIfChanged(path.join(folder, "protocol/messages.hpp"), header);
writeIfChanged(path.join(folder, "protocol/messages.cpp"), source);
