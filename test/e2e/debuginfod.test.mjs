// Debug information that is not here, from a server of build-ids: fetched only where that is allowed, and
// given up when the server does not answer.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { test } from "node:test";
import { background, helper, noProbes, orderServer, output, probesWithoutBudget, run, temporaryFolder } from "./support.mjs";

const hasTools = run("strip", ["--version"]).status === 0;
const skip = noProbes || (hasTools ? false : "binutils are not installed");

function buildId(file) {
  return /Build ID: ([0-9a-f]+)/.exec(output("readelf", ["-n", file]))[1];
}

async function listen(t, answer) {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    answer(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, asked };
}

function recordStripped(folder) {
  const program = path.join(folder, "bin/order_server");
  mkdirSync(path.dirname(program));
  copyFileSync(orderServer, program);
  output("strip", ["--strip-debug", program]);
  const recording = path.join(folder, "recording");
  output(helper, ["record", ...probesWithoutBudget, "--function", "handle_order", "-o", recording, "--", program, "--orders", "5", "--threads", "1"]);
  return recording;
}

async function reportOf(t, folder, recording, url, options) {
  const env = { ...process.env, DEBUGINFOD_URLS: url, DEBUGINFOD_CACHE_PATH: path.join(folder, "debuginfod") };
  const { status, stdout, stderr } = await background(t, helper, ["report", "--json", "--function", "handle_order", "--no-store", ...options, recording], { env }).closed;
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

test("lines come from a server where --debuginfod allows it", { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const recording = recordStripped(folder);
  const id = buildId(orderServer);
  const { url, asked } = await listen(t, (request, response) => {
    if (request.url === `/buildid/${id}/debuginfo`) {
      response.end(readFileSync(orderServer));
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
  const without = await reportOf(t, folder, recording, url, []);
  assert.deepEqual(asked, [], "nothing is fetched unasked");
  assert.equal(without.function.line, 0);
  const fetched = await reportOf(t, folder, recording, url, ["--debuginfod"]);
  assert.ok(fetched.function.line > 0);
  assert.match(fetched.function.file, /order_server\.cpp$/);
  assert.deepEqual(fetched.calls, without.calls);
});

test("a server that does not answer is given up", { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const recording = recordStripped(folder);
  const { url, asked } = await listen(t, () => {});
  const { function: found, calls } = await reportOf(t, folder, recording, url, ["--debuginfod", "--debuginfod-limit", "1"]);
  assert.equal(calls.complete, 5);
  assert.equal(found.line, 0);
  assert.equal(asked.length, 1, "no further question after the first that took too long");
});
