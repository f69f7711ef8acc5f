// Progress of a long request: a notification with a Cancel button, or the status bar.
import * as vscode from "vscode";

/** One report of progress: `message` names the stage, `percentage` is 0 to 100 where it is known. */
export interface ProgressReport {
  readonly message?: string;
  readonly percentage?: number;
}

/** Runs `work` while its progress is shown. The Cancel button of the notification cancels the token. */
export async function withProgress<T>(
  title: string,
  work: (onProgress: (report: ProgressReport) => void, token: vscode.CancellationToken) => Promise<T>,
  location = vscode.ProgressLocation.Notification,
): Promise<T> {
  const options = { location, title, cancellable: location === vscode.ProgressLocation.Notification };
  return vscode.window.withProgress(options, async (progress, token) => {
    let reached = 0;
    const onProgress = ({ message, percentage }: ProgressReport): void => {
      // VS Code expects increments. When a new stage starts at 0, the bar stays where it is.
      const increment = percentage === undefined ? 0 : Math.max(0, percentage - reached);
      reached += increment;
      progress.report({ ...(message === undefined ? {} : { message }), increment });
    };
    return work(onProgress, token);
  });
}
