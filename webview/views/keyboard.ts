// The keys that work everywhere in the panel.
import { history, isSelected, select, tab, undo } from "../state/store";
import type { TabItem } from "./tab-bar";

/** Escape pressed twice within this time clears the selection, ms. */
const twice = 800;
let lastEscape = Number.NEGATIVE_INFINITY;

const isWriting = (target: EventTarget | null): boolean => target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

function focusSearch(): void {
  requestAnimationFrame(() => {
    document.querySelector<HTMLInputElement>(".find input")?.focus();
  });
}

function pressStep(name: "previous" | "next"): void {
  const buttons = document.querySelectorAll<HTMLButtonElement>(".find button");
  buttons[name === "previous" ? 0 : 1]?.click();
}

/** Handles a key that no view has handled. Returns whether it did. */
export function handleKey(event: KeyboardEvent, tabs: readonly TabItem[]): boolean {
  if (isWriting(event.target)) return false;
  const { key } = event;
  if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "z") {
    if (history.value.past.length === 0) return false;
    undo();
    return true;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const chosen = /^[1-6]$/.test(key) ? tabs[Number(key) - 1] : undefined;
  if (chosen !== undefined) {
    tab.value = chosen.name;
    return true;
  }
  if (key === "/") {
    if (tabs.length > 0) tab.value = "flame";
    focusSearch();
    return true;
  }
  if (key === "n" || key === "N") {
    pressStep(key === "n" ? "next" : "previous");
    return true;
  }
  if (key === "Escape" && isSelected.value) {
    if (event.timeStamp - lastEscape < twice) select({});
    lastEscape = event.timeStamp;
    return true;
  }
  return false;
}
