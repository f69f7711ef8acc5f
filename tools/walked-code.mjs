// The code that made-up traces walk through: the order server, SQLite and the C library, as far as they are installed.
import { existsSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { sample } from "./steps.mjs";

function library(pattern) {
  for (const folder of ["/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64"]) {
    const name = existsSync(folder) && readdirSync(folder).find((each) => pattern.test(each));
    if (name) return realpathSync(path.join(folder, name));
  }
  return undefined;
}

export const walkedCode = () => [sample, library(/^libsqlite3\.so\.0$/), library(/^libc\.so\.6$/)].filter(Boolean);
