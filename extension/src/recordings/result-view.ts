import type { FunctionSelector } from "../protocol/protocol";

/** The part of the panel that the list of recordings needs. */
export interface ResultView {
  showOverview(): Promise<void>;
  showFunction(selector: FunctionSelector): Promise<unknown>;
  /** Shows the active recording if the view is open. */
  follow(selector: FunctionSelector | undefined): Promise<void>;
}
