import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { ExactText } from '../parts/exact-text.js';
import { bytes } from '../parts/format.js';
import { diffTexts, type TextPart } from '../text-diff.js';

/** Characters of two texts that are compared without being asked to. */
const QUICK = 200_000;
/** Unchanged characters around a change. */
const CONTEXT = 120;
/** Changes that are shown before the reader asks for more. */
const PAGE = 100;

/** Two texts as one: removed words crossed out, added words marked, long unchanged parts folded. */
export function TextDifference({
  before,
  after,
}: {
  readonly before: string;
  readonly after: string;
}): JSX.Element {
  const [isWanted, setWanted] = useState(before.length + after.length <= QUICK);
  const parts = useMemo(
    () => (isWanted ? diffTexts(before, after) : []),
    [before, after, isWanted],
  );
  if (!isWanted)
    return (
      <button type="button" onClick={() => setWanted(true)}>
        Compare {bytes(before.length)} with {bytes(after.length)} of text
      </button>
    );
  return <Parts parts={parts} />;
}

function Parts({ parts }: { readonly parts: readonly TextPart[] }): JSX.Element {
  const [shown, setShown] = useState(PAGE);
  return (
    <div class="difference text">
      {parts.slice(0, shown).map((part, at) => (
        <Part key={at} part={part} isFirst={at === 0} isLast={at === parts.length - 1} />
      ))}
      {parts.length > shown && (
        <button type="button" class="link" onClick={() => setShown(shown + 10 * PAGE)}>
          show more changes
        </button>
      )}
    </div>
  );
}

function Part({
  part: { type, text },
  isFirst,
  isLast,
}: {
  readonly part: TextPart;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}): JSX.Element {
  if (type === 'same') return <Unchanged text={text} isFirst={isFirst} isLast={isLast} />;
  const Tag = type === 'added' ? 'ins' : 'del';
  return (
    <Tag>
      <span class="visually-hidden">{type}: </span>
      <Changed text={text} />
      <span class="visually-hidden"> (end)</span>
    </Tag>
  );
}

const MAX_CHANGED = 4_000;

function Changed({ text }: { readonly text: string }): JSX.Element {
  const [isOpen, setOpen] = useState(text.length <= MAX_CHANGED);
  if (isOpen) return <ExactText text={text} />;
  return (
    <>
      <ExactText text={text.slice(0, MAX_CHANGED / 4)} />
      <button type="button" class="link" onClick={() => setOpen(true)}>
        … show all ({bytes(text.length)})
      </button>
    </>
  );
}

/** Text around changes; the middle of a long one opens at a click. */
function Unchanged({
  text,
  isFirst,
  isLast,
}: {
  readonly text: string;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const head = isFirst ? 0 : CONTEXT;
  const tail = isLast ? 0 : CONTEXT;
  const hidden = text.length - head - tail;
  if (isOpen || hidden < CONTEXT) return <ExactText text={text} />;
  return (
    <>
      <ExactText text={text.slice(0, head)} />
      <button type="button" class="link fold" onClick={() => setOpen(true)}>
        … {hidden.toLocaleString('en')} unchanged characters …
      </button>
      <ExactText text={tail > 0 ? text.slice(-tail) : ''} />
    </>
  );
}
