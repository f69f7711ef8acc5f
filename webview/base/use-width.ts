// The width of an element, which charts are drawn for.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** Returns the function for the element's `ref`, and the element's width in pixels. */
export function useWidth(): readonly [(element: HTMLElement | null) => void, number] {
  const observer = useRef<ResizeObserver | undefined>(undefined);
  const [width, setWidth] = useState(0);
  const watch = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (element === null) return;
    observer.current = new ResizeObserver(() => {
      setWidth(Math.floor(element.clientWidth));
    });
    observer.current.observe(element);
  }, []);
  useEffect(() => () => { observer.current?.disconnect(); }, []);
  return [watch, width];
}
