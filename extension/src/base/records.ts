// Access to values of unknown shape: arguments of commands, settings, stored state, messages of others.

/** Returns the value as an object whose fields can be read; an empty one for anything else. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
