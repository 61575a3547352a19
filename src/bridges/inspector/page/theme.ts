import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'advisor-chain-inspector-theme';

/** The theme of the reader; `system` follows the setting of the browser. */
export const theme = signal<Theme>(storedTheme());

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system'; // a browser that keeps nothing
  }
}

/** Applies the theme to the page, and keeps it. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    try {
      localStorage.setItem(KEY, theme.value);
    } catch {
      // it lasts as long as the page
    }
  });
}
