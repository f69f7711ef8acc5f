/** VS Code's ids of the languages whose sources PT Lens annotates. */
export const languages = ["c", "cpp", "rust", "go", "d"] as const;

export function isMeasurable(languageId: string): boolean {
  return languages.some((language) => language === languageId);
}
