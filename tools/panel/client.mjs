// `ptlens serve`, asked one request after the other, with the CPU time that each took.
import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { cpuTimes, StepError } from "../steps.mjs";

export class Client {
  #child;
  #waiting = new Map(); // by id of the request
  #received = Buffer.alloc(0);
  #last = 0;

  constructor(helper) {
    this.#child = spawn(helper, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout.on("data", (bytes) => this.#take(bytes));
    this.#child.on("exit", () => this.#waiting.forEach(({ reject }) => reject(new StepError(`${helper} serve ended`))));
  }

  #take(bytes) {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      const length = end < 0 ? undefined : Number(/Content-Length: (\d+)/.exec(this.#received.toString("latin1", 0, end))?.[1]);
      if (length === undefined || this.#received.length < end + 4 + length) return;
      const message = JSON.parse(this.#received.toString("utf8", end + 4, end + 4 + length));
      this.#received = this.#received.subarray(end + 4 + length);
      const waiting = message.method === undefined && this.#waiting.get(message.id);
      if (!waiting) continue;
      this.#waiting.delete(message.id);
      const { resolve, reject } = waiting;
      if (message.error) reject(new StepError(message.error.message));
      else resolve(message.result);
    }
  }

  ask(method, params) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++this.#last, method, params });
    return new Promise((resolve, reject) => {
      this.#waiting.set(this.#last, { resolve, reject });
      this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  // Asks so often, and returns the milliseconds of each request: the mean of its CPU time, as the kernel counts in ticks, and the
  // median of the time until its answer was read.
  async timed(method, params, runs) {
    const walls = [];
    const before = cpuTimes(this.#child.pid).own;
    for (let run = 0; run < runs; run++) {
      const begin = performance.now();
      await this.ask(method, params);
      walls.push(performance.now() - begin);
    }
    const cpu = ((cpuTimes(this.#child.pid).own - before) * 1000) / runs;
    return { cpu, wall: walls.sort((one, other) => one - other)[Math.floor(runs / 2)] };
  }

  // Milliseconds of CPU time so far.
  cpu() {
    return cpuTimes(this.#child.pid).own * 1000;
  }

  end() {
    this.#child.removeAllListeners("exit");
    this.#child.stdin.end();
  }
}
