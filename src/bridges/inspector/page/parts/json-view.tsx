import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonValue } from '../../../../core/internal/json.js';
import { ShownText, beginning } from './text.js';

/** Fields that are shown before the reader asks for more. */
const PAGE = 100;
const KEY_LENGTH = 120;
const PREVIEW_LENGTH = 80;

/** JSON as a tree that opens at a click; deep and large values are rendered when they are opened. */
export function JsonView({
  value,
  name,
  open = true,
  expand = open ? 1 : 0,
}: {
  readonly value: JsonValue;
  readonly name?: string;
  readonly open?: boolean;
  /** Levels that are open at first. */
  readonly expand?: number;
}): JSX.Element {
  const isHolder = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return (
    <div class="json mono">
      {isHolder ? (
        <Holder value={value} name={name} expand={expand} />
      ) : (
        <Leaf value={value} name={name} />
      )}
    </div>
  );
}

type Holding = Exclude<JsonValue, string | number | boolean | null>;

function Holder({
  value,
  name,
  expand,
}: {
  readonly value: Holding;
  readonly name?: string | undefined;
  readonly expand: number;
}): JSX.Element {
  const [isOpen, setOpen] = useState(expand > 0);
  const [shown, setShown] = useState(PAGE);
  const entries = isOpen ? Object.entries(value) : [];
  const isArray = Array.isArray(value);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Key name={name} />
        <span class="muted">{isOpen ? (isArray ? '[' : '{') : previewOf(value)}</span>
      </summary>
      <ul>
        {entries.slice(0, shown).map(([key, inner]) => (
          <li key={key}>
            {typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 ? (
              <Holder value={inner as Holding} name={key} expand={expand - 1} />
            ) : (
              <Leaf value={inner as JsonValue} name={key} />
            )}
          </li>
        ))}
      </ul>
      {entries.length > shown && (
        <button type="button" class="link" onClick={() => setShown(shown + PAGE)}>
          show more ({entries.length - shown})
        </button>
      )}
      {isOpen && <span class="muted json-end">{isArray ? ']' : '}'}</span>}
    </details>
  );
}

function Key({ name }: { readonly name?: string | undefined }): JSX.Element | null {
  if (name === undefined) return null;
  return (
    <>
      <bdi class="json-key">{beginning(name, KEY_LENGTH)}</bdi>
      <span class="muted">: </span>
    </>
  );
}

function Leaf({
  value,
  name,
}: {
  readonly value: JsonValue | undefined;
  readonly name?: string | undefined;
}): JSX.Element {
  return (
    <div class="json-leaf">
      <Key name={name} />
      {typeof value === 'string' ? (
        <span class="json-string">
          <ShownText text={value} />
        </span>
      ) : (
        <span class="json-value">{JSON.stringify(value)}</span>
      )}
    </div>
  );
}

/** The size of a closed value, and of small ones the beginning. */
function previewOf(value: Holding): string {
  const size = Object.keys(value).length;
  if (Array.isArray(value)) return `[ ${size} ]`;
  const keys = Object.keys(value).slice(0, 6).join(', ');
  return beginning(`{ ${keys}${size > 6 ? ', …' : ''} }`, PREVIEW_LENGTH);
}
