import type { Middleware } from "vscode-languageclient/node";
import { annotationSettings } from "./annotation-settings";

/** Drops the helper's code lenses in documents where the user does not want them. */
export const lensMiddleware: Middleware = {
  provideCodeLenses: async (document, token, next) => (annotationSettings(document.uri).lens ? next(document, token) : []),
};
