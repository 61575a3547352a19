import type { JSX } from 'preact';
import { bytes } from './parts/format.js';
import { hashOf } from './route.js';
import { canTry, connection, kept, summaries, version } from './store.js';
import { type Theme, theme } from './theme.js';

const CONNECTIONS = {
  connecting: 'Connecting …',
  open: 'Live',
  lost: 'Not connected: the process does not answer',
  refused: 'No access: open the address that the process printed, with its token',
};
const THEMES: Readonly<Record<Theme, string>> = {
  system: 'System theme',
  light: 'Light',
  dark: 'Dark',
};

/** Name, connection, what is kept, and the theme. */
export function Header(): JSX.Element {
  return (
    <header>
      <h1>
        <a href="#/">
          advisor-chain <span class="muted">inspector</span>
        </a>
      </h1>
      <span class={`connection ${connection.value}`} role="status">
        {CONNECTIONS[connection.value]}
      </span>
      <Kept />
      <a class="button chain-link" href={hashOf({ view: 'chain' })}>
        Chain
      </a>
      {canTry.value && (
        <a class="button" href={hashOf({ view: 'try' })}>
          Try a prompt
        </a>
      )}
      <ThemeSwitch />
    </header>
  );
}

function Kept(): JSX.Element | null {
  if (!kept.value) return null;
  const { maxTurns, bytes: held, maxBytes } = kept.value;
  return (
    <span class="kept muted" title={`Version ${version.value}`}>
      {summaries.value.size} of {maxTurns} turns, {bytes(held)} of {bytes(maxBytes)}
    </span>
  );
}

function ThemeSwitch(): JSX.Element {
  return (
    <label class="theme">
      <span class="visually-hidden">Theme</span>
      <select
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = currentTarget.value as Theme;
        }}
      >
        {Object.entries(THEMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
