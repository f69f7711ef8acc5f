// Elements made without markup in strings: text from a recording can never become HTML.

import type { PanelView } from "../../extension/src/panel/panel-messages";

type Child = Node | string | undefined;

/** `properties` are set on the element as they are; `undefined` children are left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** Marks a part of the page that a link leads to. */
export function anchored<E extends HTMLElement>(view: PanelView, element: E): E {
  element.dataset.view = view;
  return element;
}

/** A button that looks like a link. */
export function link(text: string, title: string, onClick: () => void): HTMLButtonElement {
  return el("button", { type: "button", className: "link", title, onclick: onClick }, text);
}

/** "/a/long/path/file.cpp" as "file.cpp". */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
