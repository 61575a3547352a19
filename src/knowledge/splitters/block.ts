import { truncate } from '../../core/internal/text.js';

/** A heading, or a line of code with deeper lines below it, and those around it. */
export interface Scope {
  readonly title: string;
  /** Level of a heading from 1, or indentation of a line of code. */
  readonly level: number;
  readonly depth: number;
  readonly parent: Scope | undefined;
}

/** A part of a text before which a chunk may begin. The blocks of a text cover it without gaps. */
export interface Block {
  readonly start: number;
  end: number;
  /** Preference for a cut before this block; the highest one in reach wins. */
  strength: number;
  /** Innermost scope of the block; of a heading, its own. */
  scope: Scope | undefined;
  /** `rows`: lines that have a meaning each, as in code and tables; a block of them that fits is not cut. */
  readonly content: 'prose' | 'rows';
}

/** Preferences for a cut, from the weakest. */
export const STRENGTH = {
  /** Between a heading and its content. */
  afterHeading: 1,
  line: 10,
  item: 30,
  paragraph: 40,
  /** Of the deepest heading. */
  section: 60,
} as const;

const MAX_TITLE = 200;

/** The scope of a title below the nearest one of a lower level. */
export function openScope(current: Scope | undefined, level: number, title: string): Scope {
  const parent = scopeAbove(current, level);
  return {
    title: truncate(title, MAX_TITLE).trim(),
    level,
    depth: (parent?.depth ?? 0) + 1,
    parent,
  };
}

/** The nearest scope of a lower level. */
export function scopeAbove(scope: Scope | undefined, level: number): Scope | undefined {
  let above = scope;
  while (above && above.level >= level) above = above.parent;
  return above;
}

/** The innermost scope that has both. */
export function commonScope(a: Scope | undefined, b: Scope | undefined): Scope | undefined {
  let [one, other] = [a, b];
  while (one !== other) {
    if ((one?.depth ?? 0) >= (other?.depth ?? 0)) one = one?.parent;
    else other = other?.parent;
  }
  return one;
}

/** Titles from the outermost scope. */
export function titlesOf(scope: Scope | undefined): readonly string[] {
  const titles: string[] = [];
  for (let each = scope; each; each = each.parent) titles.push(each.title);
  return titles.reverse();
}

/** A line of a text. */
export interface Line {
  readonly start: number;
  /** Behind its line feed. */
  readonly end: number;
  readonly text: string;
}

/** The lines of a text, without their line ends. */
export function* linesOf(text: string): Generator<Line> {
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed + 1;
    const isWindows = feed > start && text.charAt(feed - 1) === '\r';
    yield { start, end, text: text.slice(start, feed < 0 ? end : feed - Number(isWindows)) };
    start = end;
  }
}
