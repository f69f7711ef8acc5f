// Reads programs from launch configurations and tasks. Replaces the variables that need no question to the user; a
// program with any other variable is listed with its problem. Without the vscode module.
import { asRecord } from "../base/records";

/** The reason why a program cannot be started. */
export type ProgramProblem =
  /** Variables without a value here, as they are written. */
  | { readonly kind: "variables"; readonly names: readonly string[] }
  /** A Go package that the debugger builds. Only mode "exec" names a program. */
  | { readonly kind: "goPackage" }
  | { readonly kind: "missing" };

export interface ProgramTarget {
  /** Name of the launch configuration or label of the task. */
  readonly name: string;
  readonly source: "launch" | "task";
  /** Name of its workspace folder; empty if there is only one folder. */
  readonly folder: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Empty: the workspace folder. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Task that must run first; empty if there is none. */
  readonly preLaunchTask: string;
  /** Absent if it can be started. */
  readonly problem?: ProgramProblem;
}

export interface Variables {
  readonly workspaceFolder: string;
  /** Name of that folder if there are several, else empty. */
  readonly folder: string;
  /** Returns the path of the workspace folder of that name, for `${…:NAME}`. */
  readonly folderNamed: (name: string) => string | undefined;
  /** The file in the active editor; empty if there is none. */
  readonly file: string;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns a setting as text; undefined if it is not a simple value. */
  readonly setting: (name: string) => string | undefined;
}

/** Debuggers of native code. Their configurations use the same field names. */
const debuggers: ReadonlySet<string> = new Set(["cppdbg", "lldb", "lldb-dap", "gdb", "rust", "go", "codelldb", "cppvsdbg", "probe-rs-debug", "debug"]);

const isText = (value: unknown): value is string => typeof value === "string";

/** Replaces `${…}`. Adds the variables without a value to `unknown`. */
export function substitute(text: string, variables: Variables, unknown: string[]): string {
  return text.replace(/\$\{([^}]+)\}/g, (whole, name: string) => {
    const value = valueOf(name, variables);
    if (value === undefined) unknown.push(whole);
    return value ?? whole;
  });
}

function valueOf(name: string, variables: Variables): string | undefined {
  const { workspaceFolder, folderNamed, file, home, environment, setting } = variables;
  const slash = file.lastIndexOf("/");
  const base = file.slice(slash + 1);
  const dot = base.lastIndexOf(".");
  if (name.startsWith("env:")) return environment[name.slice("env:".length)] ?? "";
  if (name.startsWith("config:")) return setting(name.slice("config:".length));
  const scoped = /^(workspaceFolder(?:Basename)?):(.+)$/.exec(name);
  if (scoped !== null) {
    const named = folderNamed(scoped[2] ?? "");
    return named === undefined ? undefined : valueOf(scoped[1] ?? "", { ...variables, workspaceFolder: named });
  }
  switch (name) {
    case "workspaceFolder":
    case "workspaceRoot":
    case "cwd":
      return workspaceFolder === "" ? undefined : workspaceFolder;
    case "workspaceFolderBasename":
      return workspaceFolder === "" ? undefined : workspaceFolder.slice(workspaceFolder.lastIndexOf("/") + 1);
    case "userHome":
      return home;
    case "pathSeparator":
    case "/":
      return "/";
    case "file":
      return file === "" ? undefined : file;
    case "fileDirname":
      return file === "" ? undefined : file.slice(0, Math.max(slash, 1));
    case "fileBasename":
      return file === "" ? undefined : base;
    case "fileBasenameNoExtension":
      return file === "" ? undefined : dot > 0 ? base.slice(0, dot) : base;
    default:
      return undefined;
  }
}

/** Returns undefined if the configuration starts no native program: it attaches, or is for another language. */
export function launchTarget(configuration: Readonly<Record<string, unknown>>, variables: Variables): ProgramTarget | undefined {
  const linux = configuration.linux;
  const values = { ...configuration, ...asRecord(linux) };
  const { type, request, name, program, args, cwd, preLaunchTask } = values;
  if (!isText(type) || !debuggers.has(type) || request !== "launch" || !isText(program) || program === "") return undefined;
  const unknown: string[] = [];
  const text = (value: string): string => substitute(value, variables, unknown);
  const started = text(program);
  const target = {
    name: isText(name) ? name : program,
    source: "launch" as const,
    folder: variables.folder,
    program: absolute(started, variables),
    args: argumentsOf(args).map(text),
    cwd: isText(cwd) ? absolute(text(cwd), variables) : variables.workspaceFolder,
    env: environmentOf(values, text),
    preLaunchTask: isText(preLaunchTask) ? preLaunchTask : "",
  };
  return type === "go" && values.mode !== "exec" ? { ...target, problem: { kind: "goPackage" } } : { ...target, ...unknownProblem(unknown) };
}

/** Returns undefined if the task is not a plain program: a shell command line, or a task of another type. */
export function taskTarget(task: Readonly<Record<string, unknown>>, variables: Variables): ProgramTarget | undefined {
  const linux = task.linux;
  const values = { ...task, ...asRecord(linux) };
  const { type, label, command, args, options } = values;
  if ((type !== "process" && type !== "shell") || !isText(command)) return undefined;
  const words = type === "shell" && argumentsOf(args).length === 0 ? plainWords(command) : [command, ...argumentsOf(args)];
  const [first, ...rest] = words ?? [];
  // Only programs with a path: compilers and other tools on the PATH are rarely measured.
  if (first?.includes("/") !== true) return undefined;
  const unknown: string[] = [];
  const text = (value: string): string => substitute(value, variables, unknown);
  const given = asRecord(options);
  const cwd = isText(given.cwd) ? absolute(text(given.cwd), variables) : variables.workspaceFolder;
  const started = text(first);
  return {
    name: isText(label) ? label : command,
    source: "task",
    folder: variables.folder,
    program: started.startsWith("/") ? started : `${cwd}/${started.replace(/^\.\//, "")}`,
    args: rest.map(text),
    cwd,
    env: environmentOf({ env: given.env }, text),
    preLaunchTask: "",
    ...unknownProblem(unknown),
  };
}

/** Splits a command line into words. Returns undefined if a shell would do more than split it. */
export function plainWords(line: string): string[] | undefined {
  const withoutVariables = line.replace(/\$\{[^}]+\}/g, "x");
  if (/[|&;<>()$`\\*?[\]#~{}!\n]/.test(withoutVariables)) return undefined;
  const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  return words.map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
}

function argumentsOf(args: unknown): string[] {
  if (isText(args)) return plainWords(args) ?? [args];
  if (!Array.isArray(args)) return [];
  return args.flatMap((value: unknown) => {
    if (isText(value)) return [value];
    const quoted = asRecord(value).value;
    return isText(quoted) ? [quoted] : Array.isArray(quoted) ? [quoted.filter(isText).join(" ")] : [];
  });
}

/** Reads `env` (an object, or a list of "NAME=VALUE") and the `environment` of cppdbg. */
function environmentOf({ env, environment }: Readonly<Record<string, unknown>>, text: (value: string) => string): Record<string, string> {
  const all: Record<string, string> = {};
  if (Array.isArray(env)) {
    for (const pair of env.filter(isText)) {
      const equals = pair.indexOf("=");
      if (equals > 0) all[pair.slice(0, equals)] = text(pair.slice(equals + 1));
    }
  } else if (typeof env === "object" && env !== null) {
    for (const [name, value] of Object.entries(env)) if (isText(value)) all[name] = text(value);
  }
  for (const pair of Array.isArray(environment) ? (environment as unknown[]) : []) {
    const { name, value } = asRecord(pair);
    if (isText(name) && isText(value)) all[name] = text(value);
  }
  return all;
}

function absolute(path: string, { workspaceFolder }: Variables): string {
  return path.startsWith("/") || workspaceFolder === "" ? path : `${workspaceFolder}/${path.replace(/^\.\//, "")}`;
}

function unknownProblem(unknown: readonly string[]): Pick<ProgramTarget, "problem"> {
  return unknown.length === 0 ? {} : { problem: { kind: "variables", names: [...new Set(unknown)] } };
}
