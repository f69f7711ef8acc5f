// The context menu of a frame, also opened with the keyboard.
import * as l10n from "@vscode/l10n";
import { useEffect, useRef } from "preact/hooks";
import type { JSX } from "preact";

export interface MenuItem {
  readonly label: string;
  readonly keys?: string;
  readonly run: () => void;
  /** A line above it. */
  readonly apart?: boolean;
}

interface Props {
  readonly items: readonly MenuItem[];
  /** Pixels in the surrounding element. */
  readonly left: number;
  readonly top: number;
  readonly onClose: () => void;
}

export function FrameMenu({ items, left, top, onClose }: Props): JSX.Element {
  const element = useRef<HTMLUListElement>(null);
  useEffect(() => {
    element.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (event: Event): void => {
      if (!(event.target instanceof Node) || element.current?.contains(event.target) !== true) onClose();
    };
    document.addEventListener("pointerdown", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const entries = [...(element.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const index = entries.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) entries[(index + step + entries.length) % entries.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul ref={element} class="menu" role="menu" aria-label={l10n.t("Frame")} style={{ left: `${String(left)}px`, top: `${String(top)}px` }} onKeyDown={onKeyDown}>
      {items.map(({ label, keys = "", run, apart = false }) => (
        <li key={label} role="none" class={apart ? "apart" : ""}>
          <button type="button" role="menuitem" tabIndex={-1} onClick={() => { onClose(); run(); }}>
            <span>{label}</span>
            <kbd>{keys}</kbd>
          </button>
        </li>
      ))}
    </ul>
  );
}
