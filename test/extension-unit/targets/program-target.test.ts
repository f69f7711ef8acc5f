// Launch configurations and tasks as in the documentation of VS Code.
import { strict as assert } from "node:assert";
import { launchTarget, plainWords, substitute, taskTarget, type Variables } from "../../../extension/src/targets/program-target";

const variables: Variables = {
  workspaceFolder: "/home/me/shop",
  folder: "",
  folderNamed: (name) => (name === "library" ? "/home/me/library" : undefined),
  file: "/home/me/shop/src/order.cpp",
  home: "/home/me",
  environment: { BUILD: "debug" },
  setting: (name) => (name === "shop.port" ? "8080" : undefined),
};

describe("substitute", () => {
  for (const [text, expected] of [
    ["${workspaceFolder}/build/${env:BUILD}/server", "/home/me/shop/build/debug/server"],
    ["${workspaceFolderBasename}", "shop"],
    ["${workspaceFolder:library}/lib ${workspaceFolderBasename:library}", "/home/me/library/lib library"],
    ["${file} ${fileDirname} ${fileBasename} ${fileBasenameNoExtension}", "/home/me/shop/src/order.cpp /home/me/shop/src order.cpp order"],
    ["${userHome}${pathSeparator}x", "/home/me/x"],
    ["--port=${config:shop.port}", "--port=8080"],
    ["${env:NOT_SET}", ""],
  ] as const) {
    it(text, () => {
      const unknown: string[] = [];
      assert.equal(substitute(text, variables, unknown), expected);
      assert.deepEqual(unknown, []);
    });
  }
  it("names what it cannot replace", () => {
    const unknown: string[] = [];
    assert.equal(substitute("${command:cmake.launchTargetPath} ${input:which} ${workspaceFolder:none}", variables, unknown), "${command:cmake.launchTargetPath} ${input:which} ${workspaceFolder:none}");
    assert.deepEqual(unknown, ["${command:cmake.launchTargetPath}", "${input:which}", "${workspaceFolder:none}"]);
  });
});

describe("launchTarget", () => {
  it("reads cppdbg with its environment, arguments and task", () => {
    const target = launchTarget(
      {
        name: "Server", type: "cppdbg", request: "launch", program: "${workspaceFolder}/build/server", args: ["--port", "${config:shop.port}"],
        cwd: "${workspaceFolder}/run", environment: [{ name: "MODE", value: "${env:BUILD}" }], preLaunchTask: "build",
      },
      variables,
    );
    assert.deepEqual(target, {
      name: "Server", source: "launch", folder: "", program: "/home/me/shop/build/server", args: ["--port", "8080"], cwd: "/home/me/shop/run",
      env: { MODE: "debug" }, preLaunchTask: "build",
    });
  });
  it("reads CodeLLDB and lldb-dap, env as an object or a list", () => {
    assert.deepEqual(launchTarget({ name: "a", type: "lldb", request: "launch", program: "build/a", args: "one 'two three'", env: { A: "1" } }, variables), {
      name: "a", source: "launch", folder: "", program: "/home/me/shop/build/a", args: ["one", "two three"], cwd: "/home/me/shop", env: { A: "1" }, preLaunchTask: "",
    });
    assert.deepEqual(launchTarget({ name: "b", type: "lldb-dap", request: "launch", program: "/b", env: ["A=1", "B=x=y"] }, variables)?.env, { A: "1", B: "x=y" });
  });
  it("uses the fields for Linux", () => {
    const target = launchTarget({ name: "a", type: "cppdbg", request: "launch", program: "a.exe", linux: { program: "/a" } }, variables);
    assert.equal(target?.program, "/a");
  });
  it("reports a problem instead of guessing", () => {
    const cmake = launchTarget({ name: "c", type: "cppdbg", request: "launch", program: "${command:cmake.launchTargetPath}" }, variables);
    assert.deepEqual(cmake?.problem, { kind: "variables", names: ["${command:cmake.launchTargetPath}"] });
    const go = launchTarget({ name: "g", type: "go", request: "launch", mode: "debug", program: "${workspaceFolder}" }, variables);
    assert.deepEqual(go?.problem, { kind: "goPackage" });
    assert.equal(launchTarget({ name: "g", type: "go", request: "launch", mode: "exec", program: "/g" }, variables)?.problem, undefined);
  });
  it("skips configurations that attach, and other languages", () => {
    assert.equal(launchTarget({ name: "a", type: "cppdbg", request: "attach", program: "/a" }, variables), undefined);
    assert.equal(launchTarget({ name: "n", type: "node", request: "launch", program: "/a.js" }, variables), undefined);
    assert.equal(launchTarget({ name: "n", type: "cppdbg", request: "launch" }, variables), undefined);
  });
});

describe("taskTarget", () => {
  it("reads a process task", () => {
    const task = { label: "run", type: "process", command: "${workspaceFolder}/build/server", args: ["-v"], options: { cwd: "run", env: { A: "1" } } };
    assert.deepEqual(taskTarget(task, variables), {
      name: "run", source: "task", folder: "", program: "/home/me/shop/build/server", args: ["-v"], cwd: "/home/me/shop/run", env: { A: "1" }, preLaunchTask: "",
    });
  });
  it("reads a shell task with a program and arguments", () => {
    const target = taskTarget({ label: "run", type: "shell", command: "./build/server --name \"a b\"" }, variables);
    assert.equal(target?.program, "/home/me/shop/build/server");
    assert.deepEqual(target.args, ["--name", "a b"]);
  });
  it("skips shell command lines, tools on the PATH and other types", () => {
    assert.equal(taskTarget({ label: "x", type: "shell", command: "make && ./build/server" }, variables), undefined);
    assert.equal(taskTarget({ label: "x", type: "shell", command: "make" }, variables), undefined);
    assert.equal(taskTarget({ label: "x", type: "npm", script: "start" }, variables), undefined);
  });
});

describe("plainWords", () => {
  it("returns undefined if a shell would do more than split", () => {
    assert.deepEqual(plainWords("./a 'b c' d"), ["./a", "b c", "d"]);
    for (const line of ["./a | b", "./a $(b)", "./a *", "./a > x", "A=1; ./a", "./a $HOME"]) assert.equal(plainWords(line), undefined, line);
  });
});
