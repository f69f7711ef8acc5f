// Checks the structure of the sources by their imports:
// - a module of helper/src includes only the modules before it, in the order in which data flows;
// - neither files nor folders import each other in a circle, in helper/src, test/ptsim, extension/src and webview;
// - each file that CONTRIBUTING.md names exists, and the files that its picture joins by an arrow import each other.
// A C++ file and its header are one node. Cycles: Tarjan, "Depth-first search and linear graph algorithms" (1972).
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { at, capture, isMain, main, say, StepError } from "./steps.mjs";

const modules = [
  "base", "protocol", "perfdata", "uftrace", "symbols", "flow", "stacks", "waits", "line_time", "cache", "measure", "record", "engine", "source", "export", "server", "cli",
];

const listed = (...patterns) => capture("git", ["ls-files", "--", ...patterns]).stdout.split("\n").filter((file) => file !== "" && existsSync(at(file)));
const read = (file) => readFileSync(at(file), "utf8");
const nodeOf = (file) => file.replace(/\.(cpp|hpp|tsx?)$/, "");

function addEdge(graph, from, to) {
  if (!graph.has(from)) graph.set(from, new Set());
  if (from !== to) graph.get(from).add(to);
}

function nativeImports(folder) {
  const graph = new Map();
  for (const file of listed(`${folder}/*.cpp`, `${folder}/*.hpp`)) {
    addEdge(graph, nodeOf(file), nodeOf(file));
    for (const [, included] of read(file).matchAll(/^#include "([^"]+)"/gm)) {
      const target = `${folder}/${included}`;
      if (existsSync(at(target))) addEdge(graph, nodeOf(file), nodeOf(target));
    }
  }
  return graph;
}

// Imports of types alone count too: they are how files depend on each other's words.
function scriptImports(folder) {
  const graph = new Map();
  for (const file of listed(`${folder}/*.ts`, `${folder}/*.tsx`)) {
    addEdge(graph, nodeOf(file), nodeOf(file));
    for (const [, imported] of read(file).matchAll(/\bfrom "(\.[^"]+)"/g)) {
      addEdge(graph, nodeOf(file), path.posix.join(path.posix.dirname(file), imported));
    }
  }
  return graph;
}

// The folders' graph: an edge for each edge between files of different folders, neither inside the other.
function foldersOf(graph) {
  const folders = new Map();
  for (const [from, targets] of graph) {
    for (const to of targets) {
      const [one, other] = [path.posix.dirname(from), path.posix.dirname(to)];
      if (one !== other && !one.startsWith(other + "/") && !other.startsWith(one + "/")) addEdge(folders, one, other);
    }
  }
  return folders;
}

// Groups of nodes that reach each other.
export function cycles(graph) {
  const found = [];
  const indices = new Map();
  const lowest = new Map();
  const stack = [];
  const visit = (node) => {
    indices.set(node, indices.size);
    lowest.set(node, indices.get(node));
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!indices.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node), lowest.get(next)));
    }
    if (lowest.get(node) !== indices.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) found.push(group);
  };
  for (const node of graph.keys()) if (!indices.has(node)) visit(node);
  return found;
}

function upwardIncludes(graph) {
  const moduleOf = (node) => modules.indexOf(node.split("/")[2]);
  return [...graph].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => moduleOf(from) !== -1 && moduleOf(to) > moduleOf(from))
      .map((to) => `${from} includes ${to}: ${modules[moduleOf(from)]} comes before ${modules[moduleOf(to)]}`),
  );
}

// The picture in CONTRIBUTING.md: a code block with one file a line, each used by the next line's or using it.
function pictureProblems(graph) {
  const text = read("CONTRIBUTING.md");
  const problems = [...text.matchAll(/`((?:helper|extension|webview|tools|test|docs)\/[\w./-]+)`/g)]
    .map(([, file]) => file)
    .filter((file) => !existsSync(at(file)))
    .map((file) => `CONTRIBUTING.md names ${file}, which does not exist`);
  const picture = /<!-- picture -->\n```\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  const steps = [...picture.matchAll(/\b((?:helper|extension)\/src\/[\w/.-]+\.(?:cpp|hpp|ts))/g)].map(([, file]) => file);
  if (steps.length < 10) problems.push("CONTRIBUTING.md has no picture of the way from AUX buffer to lens");
  for (const file of steps) if (!existsSync(at(file))) problems.push(`the picture in CONTRIBUTING.md names ${file}, which does not exist`);
  const joined = (one, other) => graph.get(nodeOf(one))?.has(nodeOf(other)) || graph.get(nodeOf(other))?.has(nodeOf(one));
  for (const [index, file] of steps.slice(1).entries()) {
    const before = steps[index];
    const crosses = before.startsWith("helper/") !== file.startsWith("helper/"); // the protocol is between them
    if (!crosses && nodeOf(before) !== nodeOf(file) && !joined(before, file)) {
      problems.push(`the picture in CONTRIBUTING.md joins ${before} and ${file}; neither includes the other`);
    }
  }
  return problems;
}

export function checkStructure() {
  const helper = nativeImports("helper/src");
  const extension = scriptImports("extension/src");
  const problems = [...upwardIncludes(helper)];
  for (const graph of [helper, nativeImports("test/ptsim"), extension, scriptImports("webview")]) {
    for (const group of cycles(graph)) problems.push(`files import each other in a circle: ${group.join(", ")}`);
    for (const group of cycles(foldersOf(graph))) problems.push(`folders import each other in a circle: ${group.join(", ")}`);
  }
  problems.push(...pictureProblems(new Map([...helper, ...extension])));
  problems.forEach((problem) => say(problem));
  if (problems.length > 0) throw new StepError(`${problems.length} problems of structure`);
}

if (isMain(import.meta)) await main(checkStructure);
