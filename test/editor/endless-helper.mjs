// A helper between the editor and the real one, which passes everything on, but decodes one recording for ever: its first
// report is sent, and then only a cancellation ends the request.
import { spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The name of the recording, in any folder. */
export const endless = "endless.data";

/** Writes a program that starts this helper before the real one. Returns its path. */
export function makeEndlessHelper(folder, real) {
  const program = path.join(folder, "ptlens-endless");
  const call = `import(${JSON.stringify(fileURLToPath(import.meta.url))}).then((helper) => helper.run(${JSON.stringify(real)}));`;
  writeFileSync(program, `#!${process.execPath}\n${call}\n`);
  chmodSync(program, 0o755);
  return program;
}

/** Calls `take` with each message of a stream and its bytes. */
function eachMessage(stream, take) {
  let bytes = Buffer.alloc(0);
  stream.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const header = bytes.indexOf("\r\n\r\n");
      if (header < 0) return;
      const length = Number(/Content-Length: (\d+)/.exec(bytes.subarray(0, header).toString())?.[1]);
      const end = header + 4 + length;
      if (!(bytes.length >= end)) return;
      const frame = bytes.subarray(0, end);
      bytes = bytes.subarray(end);
      take(JSON.parse(frame.subarray(header + 4).toString()), frame);
    }
  });
}

const report = {
  function: { name: "never_ends()", binary: "/bin/endless", address: "0x1000", file: "", line: 0 },
  calls: { complete: 660, incomplete: 0, unwound: 0 },
  latency: { mean: 1000, min: 500, max: 2000, total: 660_000 },
  off_cpu: { total: 0 },
  histogram: [],
  done: 41,
  total: 100,
};

export function run(real) {
  const child = spawn(real, process.argv.slice(2), { stdio: process.argv.includes("serve") ? ["pipe", "pipe", "inherit"] : "inherit" });
  child.on("exit", (status) => process.exit(status ?? 1));
  if (child.stdin === null) return;
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  let decoding;
  eachMessage(process.stdin, ({ id, method, params }, frame) => {
    if (method === "ptlens/open" && path.basename(params.path) === endless) {
      decoding = id;
      send({ method: "ptlens/partial", params: { token: params.workDoneToken, report } });
    } else if (method === "$/cancelRequest" && decoding !== undefined && params.id === decoding) {
      send({ id: decoding, error: { code: -32800, message: "decoding was cancelled", data: { kind: "cancelled", message: "decoding was cancelled" } } });
    } else {
      child.stdin.write(frame);
    }
  });
  process.stdin.on("end", () => child.stdin.end());
  eachMessage(child.stdout, (_, frame) => process.stdout.write(frame));
}
