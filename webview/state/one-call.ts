// One call: the one that Timeline shows, and the one that is kept to compare others with.
import { signal } from "@preact/signals";
import { subject, tab } from "./store";

/** Names a call. `start`: perf's clock, ns. */
export interface CallName {
  readonly tid: number;
  readonly start: number;
}

/** The call that the user opened; undefined: the slowest. */
export const picked = signal<CallName | undefined>(undefined);
export const keptCall = signal<CallName | undefined>(undefined);

export const isSameCall = (one: CallName | undefined, other: CallName | undefined): boolean =>
  one !== undefined && one.tid === other?.tid && one.start === other.start;

/** Shows one call in order of time. The selection stays as it is. */
export function showCall({ tid, start }: CallName): void {
  picked.value = { tid, start };
  tab.value = "timeline";
}

/** Keeps a call for comparison; a second time lets it go. */
export function toggleKept({ tid, start }: CallName): void {
  keptCall.value = isSameCall(keptCall.value, { tid, start }) ? undefined : { tid, start };
}

let about = "";
subject.subscribe((next) => {
  if (next === about) return;
  about = next;
  picked.value = undefined;
  keptCall.value = undefined;
});
