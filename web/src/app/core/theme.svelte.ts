export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';

class Appearance {
  theme = $state<Theme>(readStoredTheme());

  set(theme: Theme): void {
    this.theme = theme;
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
    applyTheme();
  }
}

export const appearance = new Appearance();

/** Apply the theme to the page. Without a choice, it follows the system. */
export function applyTheme(): void {
  if (appearance.theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = appearance.theme;
}

function readStoredTheme(): Theme {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}
