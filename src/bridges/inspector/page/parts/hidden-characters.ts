/** A piece of a text: shown, or a run of one character that nothing shows. */
export type TextPiece =
  | { readonly shown: string }
  | { readonly code: string; readonly name: string; readonly count: number };

/**
 * Characters that approvals call invisible: controls, format characters and others that nothing shows. White space, joiners and
 * selectors are left alone: emoji and many scripts need them.
 */
const HIDDEN =
  /((?![\t\n\r]|[\u200c-\u200d]|[\ufe0e-\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])\1*/gu;

const NAMES: Readonly<Record<string, string>> = {
  'U+00AD': 'soft hyphen',
  'U+200B': 'zero width space',
  'U+200E': 'left-to-right mark',
  'U+200F': 'right-to-left mark',
  'U+202A': 'left-to-right embedding',
  'U+202B': 'right-to-left embedding',
  'U+202C': 'end of direction',
  'U+202D': 'left-to-right override',
  'U+202E': 'right-to-left override',
  'U+2060': 'word joiner',
  'U+2066': 'left-to-right isolate',
  'U+2067': 'right-to-left isolate',
  'U+2069': 'end of isolate',
  'U+FEFF': 'zero width no-break space',
};

/** Characters that are marked in one text: beyond them, it is shown unchanged. */
const MAX_MARKS = 500;

/** The pieces of a text in order; a single one if it has no hidden characters. */
export function textPieces(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const { 0: run, 1: character = '', index } of text.matchAll(HIDDEN)) {
    if (pieces.length >= 2 * MAX_MARKS) break;
    if (index > end) pieces.push({ shown: text.slice(end, index) });
    const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    const name = NAMES[code] ?? (code.startsWith('U+E00') ? 'hidden tag' : 'invisible character');
    pieces.push({ code, name, count: run.length / character.length });
    end = index + run.length;
  }
  if (end < text.length) pieces.push({ shown: text.slice(end) });
  return pieces;
}
