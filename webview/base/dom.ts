// Creates elements without markup in strings: text of a recording can never become HTML.
import type { PanelSection } from "../../extension/src/panel/panel-messages";

type Child = Node | string | undefined;

/** Creates an element with these properties and children. Skips children that are undefined. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** Marks an element as a section that a link can name. */
export function asSection<E extends HTMLElement>(section: PanelSection, element: E): E {
  element.dataset.section = section;
  return element;
}

/** Creates a button that looks like a link. */
export function link(text: string, title: string, onClick: () => void): HTMLButtonElement {
  return el("button", { type: "button", className: "link", title, onclick: onClick }, text);
}

/** Returns the last component of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
