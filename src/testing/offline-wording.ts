import type { Assignment, Scope } from './offline-candidates.js';
import type { Parameter } from './offline-parameters.js';
import { isStopWord, isVague, wordsOf } from './offline-words.js';

const YES_WORDS: ReadonlySet<string> = new Set(
  'is ar has have includ enabl us with allow should return show add want need flag option'.split(' '),
);
const NO = /\b(?:no|not|without|don['’]?t|doesn['’]?t|exclud\w*|never|neither|disabl\w*|false|skip)\b[^.,;]{0,20}$/i;

/** Whether the text mentions what a yes/no parameter is about, and how. */
export function saysYes({ name, stems }: Parameter, { text, start, end }: Scope): boolean | undefined {
  const part = text.slice(start, end);
  const stated = new RegExp(`\\b${name.replaceAll(/\W/g, '.')}\\b\\W{1,4}(?:(?:is|to|be|set)\\s+)*(true|false|yes|no)\\b`, 'i').exec(
    part,
  )?.[1];
  if (stated !== undefined) return /true|yes/i.test(stated);
  const telling = stems.filter((stem) => !YES_WORDS.has(stem));
  const word = wordsOf(part).find((one) => telling.includes(one.stem));
  return word === undefined ? undefined : !NO.test(part.slice(0, word.start));
}

/** What is left of a part of a question without the words that ask for the tool: `search the web for old maps` leaves `old maps`. */
export function remainderOf(picks: readonly Assignment[], { text, start, end, isToolWord, mayQuote }: Scope): string | undefined {
  const words = wordsOf(text.slice(start, end));
  const first = words.find((word) => !isStopWord(word.text) && !isVague(word.stem) && !isToolWord(word.stem));
  if (!first) return undefined;
  const from = start + first.start;
  const cut = Math.min(
    end,
    ...picks
      .flatMap((pick) => pick.facts)
      .filter((fact) => fact.start > from)
      .map((fact) => fact.start),
  );
  const rest = text
    .slice(from, cut)
    .replace(/[\s.,;:!?]+$/u, '')
    .replace(/(?:\s+(?:in|at|to|from|for|of|by|with|on|and|or|please|the|a))+$/iu, '')
    .trim();
  return rest !== '' && mayQuote(rest) ? rest : undefined;
}
