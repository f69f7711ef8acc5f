// The elements of @vscode-elements/elements, as JSX may use them.
import type { HTMLAttributes } from "preact";

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "vscode-button": HTMLAttributes<HTMLElement> & { secondary?: boolean; disabled?: boolean };
    }
  }
}
