// The stages of a long request, in a notification whose cancel button cancels the request, or in the
// status bar.
import * as vscode from "vscode";
import type { Step } from "./client";

export async function withSteps<T>(
  title: string,
  work: (onStep: (step: Step) => void, token: vscode.CancellationToken) => Promise<T>,
  location = vscode.ProgressLocation.Notification,
): Promise<T> {
  const options = { location, title, cancellable: location === vscode.ProgressLocation.Notification };
  return vscode.window.withProgress(options, async (progress, token) => {
    let reached = 0;
    const onStep = ({ message, percentage }: Step): void => {
      // VS Code wants the increase; a new stage that starts again from 0 leaves the bar where it is.
      const increment = percentage === undefined ? 0 : Math.max(0, percentage - reached);
      reached += increment;
      progress.report({ ...(message === undefined ? {} : { message }), increment });
    };
    return work(onStep, token);
  });
}
