/** Light, dark, or as the system says. */
export type ThemeChoice = "system" | "light" | "dark";
const choices: readonly ThemeChoice[] = ["system", "light", "dark"];
const key = "innerview.theme";

export class Theme {
  choice = $state<ThemeChoice>("system");
  private systemDark = $state(false);
  dark = $derived(this.choice === "dark" || (this.choice === "system" && this.systemDark));

  constructor() {
    const media = matchMedia("(prefers-color-scheme: dark)");
    this.systemDark = media.matches;
    media.addEventListener("change", () => {
      this.systemDark = media.matches;
      // Before anything is drawn again: marks read their colours from the page.
      this.apply();
    });
    const stored = localStorage.getItem(key);
    this.choice = choices.find((choice) => choice === stored) ?? "system";
    this.apply();
  }

  next(): void {
    this.choice = choices[(choices.indexOf(this.choice) + 1) % choices.length]!;
    localStorage.setItem(key, this.choice);
    this.apply();
  }

  apply(): void {
    document.documentElement.dataset.theme = this.dark ? "dark" : "light";
  }
}
