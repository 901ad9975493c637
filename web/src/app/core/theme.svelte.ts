export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';

class Appearance {
  theme = $state<Theme>(stored());

  set(theme: Theme): void {
    this.theme = theme;
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
    applyTheme();
  }
}

export const appearance = new Appearance();

/** Light and dark follow the system unless the person chose one. */
export function applyTheme(): void {
  if (appearance.theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = appearance.theme;
}

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}
