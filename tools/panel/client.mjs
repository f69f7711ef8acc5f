// `ptlens serve`, asked one request after the other, with the CPU time that each took.
import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { cpuTimes } from "../steps.mjs";

export class Client {
  #child;
  #connection;

  constructor(helper) {
    this.#child = spawn(helper, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#connection = createMessageConnection(new StreamMessageReader(this.#child.stdout), new StreamMessageWriter(this.#child.stdin));
    this.#connection.listen();
    this.#child.on("exit", () => this.#connection.dispose());
  }

  // Rejects where the helper answers with an error, or ends.
  ask(method, params) {
    return this.#connection.sendRequest(method, params);
  }

  // Asks so often, and returns the milliseconds of each request: the mean of its CPU time, as the kernel counts in ticks, and the
  // median of the time until its answer was read.
  async timed(method, params, runs) {
    const walls = [];
    const before = this.cpu();
    for (let run = 0; run < runs; run++) {
      const begin = performance.now();
      await this.ask(method, params);
      walls.push(performance.now() - begin);
    }
    return { cpu: (this.cpu() - before) / runs, wall: walls.sort((one, other) => one - other)[Math.floor(runs / 2)] };
  }

  // Milliseconds of CPU time so far.
  cpu() {
    return cpuTimes(this.#child.pid).own * 1000;
  }

  end() {
    this.#child.stdin.end();
  }
}
