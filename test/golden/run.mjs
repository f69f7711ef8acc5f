// Plays the *.session files against `ptlens serve`. Every message of the helper is also checked against
// extension/protocol.schema.json, and so are the parameters of every request that succeeds. A complete
// run fails when it has not checked the result of every method in the schema.
//
// A session is plain text with one step per line:
//   # needs: NAME             the session is skipped, with a message, where NAME is missing (see `needs`)
//   --> JSON                  sends a message
//   ==> "TEXT"                sends these bytes as they are (a JSON string, so \r\n can be written)
//   byte by byte              what is sent from here on is written one byte at a time
//   <-- PATTERN               the next message must match; $/progress and $/logTrace are skipped
//                             unless the pattern is one of them
//   until PATTERN             messages are skipped until one matches
//   close                     ends the helper's input
//   exit N                    the helper must end with this status
//   empty PATH                this folder contains no file
// A pattern is JSON. An object matches an object that has its fields and perhaps others. An array matches
// an array of the same length, or of at least that length where its last element is "...". "*" matches
// anything, "/TEXT/" a string that contains TEXT, and ">=N" a number. "@NAME" matches anything and stores
// it: "@NAME" in a later line is replaced by it. {root}, {traces}, {samples} and {tmp} are folders.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";

const folder = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(folder, "../..");
const helper = process.env.PTLENS_HELPER ?? path.join(root, "helper/build/ptlens");
const traces = process.env.PTLENS_TRACES ?? path.resolve(root, "../shared/traces");
const samples = process.env.PTLENS_SAMPLES ?? path.join(root, "helper/build/samples");
const silence = 60_000; // ms; the longest time to a message on a busy machine

const schema = JSON.parse(readFileSync(path.join(root, "extension/protocol.schema.json"), "utf8"));
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema(schema, "protocol");

function whyNoProbes() {
  if (process.getuid() !== 0) return "setting probes needs root";
  if (spawnSync("perf", ["--version"]).status !== 0) return "perf is not installed";
  if (!existsSync(path.join(samples, "order_server"))) return "the order server is not built";
  try {
    accessSync("/sys/kernel/tracing/uprobe_events", constants.W_OK);
    return "";
  } catch {
    return "this kernel has no writable /sys/kernel/tracing/uprobe_events";
  }
}
const needs = {
  traces: () => (existsSync(traces) ? "" : `the folder of real recordings, ${traces}, is not here`),
  probes: whyNoProbes,
};

class Mismatch extends Error {}

function check(reference, value) {
  const validate = ajv.getSchema(`protocol#${reference}`);
  if (!validate) throw new Mismatch(`the schema has no ${reference}`);
  if (!validate(value)) throw new Mismatch(`against ${reference}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(value)}`);
}

const refreshes = new Set(["workspace/codeLens/refresh", "workspace/inlayHint/refresh"]);

const escaped = (method) => method.replaceAll("~", "~0").replaceAll("/", "~1");

/** Methods whose result was checked. */
const checked = new Set();

// Checks one message of the helper against JSON-RPC and the schema. `requests` has the method and the
// parameters of each request, by id.
function checkMessage(message, requests) {
  if (message.jsonrpc !== "2.0") throw new Mismatch("the message is not JSON-RPC 2.0");
  if (message.method !== undefined) {
    if (schema.properties[message.method]) check(`/properties/${escaped(message.method)}/properties/params`, message.params);
    else if (!refreshes.has(message.method)) throw new Mismatch(`the schema has no ${message.method}`);
    return;
  }
  if (("result" in message) === ("error" in message)) throw new Mismatch("a response has a result or an error");
  const { method, params } = requests.get(JSON.stringify(message.id)) ?? {};
  if (message.error) {
    if (typeof message.error.message !== "string" || !Number.isInteger(message.error.code)) throw new Mismatch("an error has a code and a message");
    const data = message.error.code === -32602 ? "invalidParams" : "data";
    if (message.error.data !== undefined) check(`/properties/error/properties/${data}`, message.error.data);
    else if (message.error.code > -32099 && message.error.code < -32009) throw new Mismatch("an error of the work has data");
  } else if (method && schema.properties[method]) {
    check(`/properties/${escaped(method)}/properties/result`, message.result);
    checked.add(method);
    if (params !== undefined && schema.properties[method].properties.params) {
      const own = { ...params };
      delete own.workDoneToken; // LSP's own
      check(`/properties/${escaped(method)}/properties/params`, own);
    }
  } else if (method !== "shutdown") {
    throw new Mismatch(`an answer to ${method}, which the schema does not have`);
  }
}

// The difference between pattern and value, or undefined; what is named is put into `names`.
function difference(pattern, value, names, at = "message") {
  if (typeof pattern === "string") {
    if (pattern === "*") return undefined;
    if (pattern.startsWith("@")) {
      names.set(pattern, value);
      return undefined;
    }
    if (pattern.startsWith(">=")) return value >= Number(pattern.slice(2)) ? undefined : `${at} is ${JSON.stringify(value)}, not ${pattern}`;
    if (pattern.length > 2 && pattern.startsWith("/") && pattern.endsWith("/")) {
      return String(value).includes(pattern.slice(1, -1)) ? undefined : `${at} is ${JSON.stringify(value)}, without ${pattern}`;
    }
  }
  if (pattern === null || typeof pattern !== "object") {
    return pattern === value ? undefined : `${at} is ${JSON.stringify(value)}, not ${JSON.stringify(pattern)}`;
  }
  if (Array.isArray(pattern)) {
    const open = pattern.at(-1) === "...";
    const items = open ? pattern.slice(0, -1) : pattern;
    if (!Array.isArray(value) || value.length < items.length || (!open && value.length !== items.length)) {
      return `${at} is ${JSON.stringify(value)}, not a list of ${items.length}${open ? " or more" : ""}`;
    }
    return items.map((item, index) => difference(item, value[index], names, `${at}[${index}]`)).find(Boolean);
  }
  if (value === null || typeof value !== "object") return `${at} is ${JSON.stringify(value)}, not an object`;
  return Object.entries(pattern)
    .map(([name, item]) => difference(item, value[name], names, `${at}.${name}`))
    .find(Boolean);
}

// The helper's process and the messages that it writes.
class Helper {
  #child;
  #bytes = Buffer.alloc(0);
  #messages = [];
  #waiting;
  #stderr = "";
  ended;

  constructor(environment) {
    this.#child = spawn(helper, ["serve"], { stdio: "pipe", env: environment });
    this.#child.stdin.on("error", () => undefined);
    this.#child.stdout.on("data", (bytes) => this.#read(bytes));
    this.#child.stderr.on("data", (bytes) => (this.#stderr += bytes));
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("close", (status, signal) => resolve(status ?? signal));
    });
    this.ended.then(() => this.#waiting?.(), () => this.#waiting?.());
  }

  #read(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const end = this.#bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      const header = /^Content-Length: (\d+)$/.exec(this.#bytes.subarray(0, end).toString());
      if (!header) throw new Mismatch(`a bad header: ${this.#bytes.subarray(0, end)}`);
      const length = Number(header[1]);
      if (this.#bytes.length < end + 4 + length) return;
      this.#messages.push(JSON.parse(this.#bytes.subarray(end + 4, end + 4 + length).toString()));
      this.#bytes = this.#bytes.subarray(end + 4 + length);
      this.#waiting?.();
    }
  }

  write(bytes) {
    this.#child.stdin.write(bytes);
  }
  close() {
    this.#child.stdin.end();
  }
  kill() {
    this.#child.kill("SIGKILL");
  }

  async next() {
    const limit = Date.now() + silence;
    while (this.#messages.length === 0) {
      if (this.#child.exitCode !== null || Date.now() >= limit) {
        throw new Mismatch(`no message came; stderr: ${this.#stderr.trim() || "empty"}`);
      }
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.max(1, limit - Date.now()));
        this.#waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#messages.shift();
  }

  async status() {
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve("none: it goes on"), silence);
    });
    const status = await Promise.race([this.ended, late]);
    clearTimeout(timer);
    return status;
  }
}

/** The method of a request and its parameters, where the schema describes them. */
function requestOf({ method, params }) {
  if (method === "initialize") return { method, params: params?.initializationOptions };
  if (params?.command === undefined) return { method, params };
  const [first] = params.arguments ?? [];
  return { method: params.command.replace(/^ptlens\.server\./, "ptlens/"), params: typeof first === "object" ? first : undefined };
}

const framed = (body) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const passedOver = new Set(["$/progress", "$/logTrace"]);

async function play(file, tmp) {
  const lines = readFileSync(path.join(folder, file), "utf8").split("\n");
  const process_ = new Helper({ ...process.env, XDG_STATE_HOME: tmp, XDG_CACHE_HOME: tmp, PTLENS_STORE: "cache" });
  const names = new Map();
  const requests = new Map();
  let byByte = false;
  const filled = (text) => {
    const places = text.replaceAll("{root}", root).replaceAll("{traces}", traces).replaceAll("{samples}", samples).replaceAll("{tmp}", tmp);
    return places.replaceAll(/"@\w+"/g, (name) => (names.has(name.slice(1, -1)) ? JSON.stringify(names.get(name.slice(1, -1))) : name));
  };
  const send = (text) => {
    if (!byByte) return process_.write(text);
    for (const byte of Buffer.from(text)) process_.write(Buffer.from([byte]));
  };
  const receive = async () => {
    const message = await process_.next();
    checkMessage(message, requests);
    return message;
  };
  const step = async (line) => {
    const text = filled(line);
    if (line.startsWith("--> ")) {
      const message = JSON.parse(text.slice(4));
      if (message.id !== undefined) requests.set(JSON.stringify(message.id), requestOf(message));
      send(framed(JSON.stringify({ jsonrpc: "2.0", ...message })));
    } else if (line.startsWith("==> ")) {
      const bytes = JSON.parse(text.slice(4));
      for (const [, id, method] of bytes.matchAll(/"id":(\d+),"method":"([^"]+)"/g)) requests.set(id, { method });
      send(bytes);
    } else if (line.startsWith("<-- ")) {
      const pattern = JSON.parse(text.slice(4));
      let message = await receive();
      while (passedOver.has(message.method) && message.method !== pattern.method) message = await receive();
      const found = difference(pattern, message, names);
      if (found) throw new Mismatch(found);
    } else if (line.startsWith("until ")) {
      const pattern = JSON.parse(text.slice(6));
      while (difference(pattern, await receive(), names)) continue;
    } else if (line === "byte by byte") {
      byByte = true;
    } else if (line === "close") {
      process_.close();
    } else if (line.startsWith("exit ")) {
      const status = await process_.status();
      if (String(status) !== line.slice(5)) throw new Mismatch(`the helper's status is ${status}`);
    } else if (line.startsWith("empty ")) {
      const place = text.slice(6);
      const files = existsSync(place) ? readdirSync(place) : [];
      if (files.length > 0) throw new Mismatch(`${place} holds ${files.join(", ")}`);
    } else {
      throw new Mismatch("no such step");
    }
  };
  try {
    for (const [index, line] of lines.entries()) {
      if (line.trim() === "" || line.startsWith("#")) continue;
      try {
        await step(line.trim());
      } catch (error) {
        throw new Mismatch(`${file}:${index + 1}: ${error.message}`);
      }
    }
  } finally {
    process_.close();
    process_.kill();
    await process_.ended.catch(() => undefined);
  }
}

const total = { passed: 0, failed: 0, skipped: 0 };
if (!existsSync(helper)) {
  console.error(`${helper} is not there; run: npm run build`);
  process.exit(1);
}
const wanted = process.argv.slice(2);
for (const file of readdirSync(folder).filter((name) => name.endsWith(".session") && (wanted.length === 0 || wanted.includes(name)))) {
  const needed = [...readFileSync(path.join(folder, file), "utf8").matchAll(/^# needs: (\w+)$/gm)].map((match) => match[1]);
  const reason = needed.map((name) => needs[name]()).find(Boolean);
  if (reason) {
    total.skipped += 1;
    console.log(`skipped: ${file}: ${reason}`);
    continue;
  }
  const tmp = mkdtempSync(path.join(os.tmpdir(), "ptlens-golden-"));
  try {
    await play(file, tmp);
    total.passed += 1;
    console.log(`passed: ${file}`);
  } catch (error) {
    total.failed += 1;
    console.log(`FAILED: ${error.message}`);
  } finally {
    rmSync(tmp, { recursive: true, force: true });
  }
}
const methodsWithResult = Object.keys(schema.properties).filter((method) => schema.properties[method].properties.result);
const unchecked = methodsWithResult.filter((method) => !checked.has(method));
if (unchecked.length > 0 && wanted.length === 0 && total.failed === 0) {
  if (total.skipped === 0) total.failed += 1;
  console.log(`${total.skipped === 0 ? "FAILED: " : ""}no session checks the result of ${unchecked.join(", ")}`);
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);
