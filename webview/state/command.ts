// The command line that answers what the panel shows.

/** Quotes an argument for a POSIX shell. */
function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** Returns the command line as text for a shell. */
export function commandText(command: readonly string[]): string {
  return command.map(quoted).join(" ");
}
