/** What a value of a text is, as far as its form tells. */
export type ValueKind =
  'json' | 'quoted' | 'url' | 'email' | 'path' | 'expression' | 'date' | 'time' | 'number' | 'code' | 'name' | 'phrase' | 'choice';

/** A value that stands in a text. */
export interface TextValue {
  readonly kind: ValueKind;
  readonly text: string;
  /** The number of a `number`, the parsed value of `json`, else a text. */
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
}

type Form = readonly [kind: ValueKind, pattern: RegExp, read: ((match: RegExpMatchArray) => unknown) | undefined];

const MONTH = String.raw`(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`;
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th)?`;
const YEAR = String.raw`(?:,?\s*(?:of\s+)?\d{4})`;
const WEEKDAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const SPELLED = 'two three four five six seven eight nine ten eleven twelve'.split(' ');
const SCALES: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, million: 1e6, m: 1e6, billion: 1e9, hundred: 100, dozen: 12 };
const CAPITAL = String.raw`(?:(?:\p{Lu}\.)+(?:\p{Lu}\b)?|(?:Mrs?|Ms|Dr|St|Mt|Jr|Sr|Inc|Ltd|Corp|Co)\.|\p{Lu}[\p{L}\p{M}\p{N}]*(?:[’'&-]\p{L}[\p{L}\p{M}]*)*)`;
const UNIT =
  '(?:[kcmµnMGT]?(?:g|m|l|s|V|W|A|J|N|H|F|C|Pa|Hz|Wh|B|b|mol)|st|nd|rd|th|lbs?|ft|in|mph|kph|min|hr?s?|[°K]|oz|mi|yd|k?cal|rpm|px|pt)';
const OPERAND = String.raw`(?:\d+(?:\.\d+)?[a-z]?|[a-z](?:\([a-z0-9]\))?|(?:sin|cos|tan|log|ln|exp|sqrt)\s?\([^()]*\)|\([^()]*\d[^()]*\)|-\d+)`;
const OPERATOR = String.raw`(?:\s*(?:\*\*|[*/^×÷=])\s*|\s*\+\s*|\s+[-−]\s+|(?<=[a-z)])[-−])`;

function form(kind: ValueKind, source: string, flags: string, read?: Form[2]): Form {
  return [kind, new RegExp(source, flags), read];
}

/** The forms of values, the most certain first: what one of them has found, the later ones pass over. */
const FORMS: readonly Form[] = [
  form('json', String.raw`\[(?:[^\][\n]|\[[^\][\n]*\])*\]|\{(?:[^{}\n]|\{[^{}\n]*\})*\}`, 'g', (match) => readJson(match[0])),
  form(
    'quoted',
    String.raw`(?<![\p{L}\p{N}])(?:"([^"\n]{1,500})"|“([^”\n]{1,500})”|'([^'\n]{1,300})'|‘([^’\n]{1,300})’|${'`([^`\n]{1,300})`'})(?![\p{L}\p{N}])`,
    'gu',
    (match) => match.slice(1).find((text) => text !== undefined),
  ),
  form('url', String.raw`\b(?:https?|ftp|wss?):\/\/[^\s"'<>)]*[^\s"'<>).,;!?]`, 'g'),
  form('email', String.raw`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`, 'g'),
  form(
    'path',
    String.raw`(?<![\p{L}\p{N}/])(?:~?\/|[A-Z]:[\\/]|\.{1,2}\/)[\w.\\/-]*\w|\b[\w-]+\.(?:txt|csv|json|xml|pdf|png|jpe?g|md|html?|js|ts|py|java|zip|log|docx?|xlsx?|mp[34]|wav|ya?ml)\b`,
    'gu',
  ),
  form(
    'date',
    String.raw`\b\d{4}-\d{1,2}-\d{1,2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?\b|\b\d{1,2}([/.-])\d{1,2}\1\d{2,4}\b|\b\d{4}\/\d{1,2}\/\d{1,2}\b`,
    'g',
  ),
  form(
    'date',
    String.raw`\b(?:${MONTH}\s+${DAY}(?!\d)${YEAR}?|(?:the\s+)?${DAY}\s+(?:of\s+)?${MONTH}${YEAR}?|${MONTH}${YEAR})(?![\p{L}\p{N}])`,
    'giu',
  ),
  form(
    'date',
    String.raw`\b(?:the day after tomorrow|today|tomorrow|yesterday|tonight|(?:(?:this|next|last)\s+)?${WEEKDAY}|(?:this|next|last)\s+(?:week(?:end)?|month|year))\b`,
    'gi',
  ),
  form(
    'time',
    String.raw`\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*(?:[ap]m\b|[ap]\.m\.))?|\b\d{1,2}\s*(?:[ap]m\b|[ap]\.m\.)|\b(?:noon|midnight)\b`,
    'gi',
  ),
  // `x = 1` gives a value, it is no formula
  form('expression', String.raw`(?<![\p{L}\p{N}_.])${OPERAND}(?:${OPERATOR}${OPERAND})+(?![\p{L}\p{N}_])`, 'gu', (match) =>
    /\d/.test(match[0]) && !/^[a-z]\s*=\s*-?[\d.]+$/.test(match[0]) ? match[0] : undefined,
  ),
  form(
    'number',
    String.raw`(?<![\p{L}\p{N}_.]|\p{L}-)([-+−]?)([$€£¥]\s?)?(\d{1,3}(?:,\d{3})+(?!\d)|\d+)((?:\.\d+)?(?:e[-+]?\d+)?)(?:\s?%|\s?(k|m|thousand|million|billion|dozen|hundred)\b(?!\/)|(?![\p{L}\p{N}_]|\.\d)|(?=${UNIT}(?![\p{L}\p{N}])))`,
    'gu',
    readNumber,
  ),
  form('number', String.raw`(?<![\p{L}-])(${SPELLED.join('|')})(?:[\s-](hundred|thousand|million|dozen))?(?![\p{L}-])`, 'giu', readSpelled),
  form(
    'code',
    String.raw`(?<![\p{L}\p{N}])(?:#[\p{L}\p{N}_-]+|(?=[\p{L}_.-]*\p{N})(?=[\p{N}_.-]*\p{L})[\p{L}\p{N}][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)*|[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+|\p{Ll}+(?:\p{Lu}\p{Ll}*)+(?:\.\p{L}+)*|\p{L}+(?:\.\p{L}{2,})+)(?![\p{L}\p{N}])`,
    'gu',
  ),
  form('name', String.raw`(?<![\p{L}\p{N}])${CAPITAL}(?:\s+(?:(?:of|de|the|van|von|del|la|da|di|le|du)\s+)*${CAPITAL})*`, 'gu'),
];

/** The values that stand in a text, in order. */
export function valuesIn(text: string): readonly TextValue[] {
  const found: TextValue[] = [];
  let rest = text;
  for (const [kind, pattern, read] of FORMS) {
    for (const match of rest.matchAll(pattern)) {
      const value = read ? read(match) : match[0];
      if (value === undefined) continue;
      const [start, end] = [match.index, match.index + match[0].length];
      found.push({ kind, text: kind === 'quoted' ? (value as string) : match[0], value, start, end });
      rest = rest.slice(0, start) + '\u0000'.repeat(end - start) + rest.slice(end);
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/** JSON, also as people write it: single quotes, words without quotes. */
function readJson(text: string): unknown {
  const spellings = [
    text,
    text.replaceAll("'", '"'),
    text.replaceAll(/(?<=[[{,:]\s*)([\p{L}_][\p{L}\p{N}_ .-]*?)(?=\s*[,\]}:])/gu, '"$1"'),
  ];
  for (const spelling of spellings) {
    try {
      return JSON.parse(spelling) as unknown;
    } catch {
      // not in this spelling
    }
  }
  return undefined;
}

function readNumber([, sign = '', currency, digits = '', rest = '', scale = '']: RegExpMatchArray): number {
  const value = Number(`${sign === '' || sign === '+' ? '' : '-'}${digits.replaceAll(',', '')}${rest}`);
  // `$5m` is five million, `5m` is five metres
  return scale.length === 1 && currency === undefined ? value : value * (SCALES[scale] ?? 1);
}

function readSpelled([, word = '', scale]: RegExpMatchArray): number {
  return (SPELLED.indexOf(word.toLowerCase()) + 2) * (SCALES[scale?.toLowerCase() ?? ''] ?? 1);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** A written day as `2024-05-31`; undefined if the text does not name a whole day (`tomorrow`, `May 2024`). */
export function isoDate(text: string): string | undefined {
  const iso = /(\d{4})[-/](\d{1,2})[-/](\d{1,2})/.exec(text);
  if (iso) return toIso(iso[1], Number(iso[2]), iso[3]);
  const month = MONTHS.findIndex((name) => new RegExp(`\\b${name}`, 'i').test(text)) + 1;
  const day = /\b(\d{1,2})(?:st|nd|rd|th)?\b/.exec(text)?.[1];
  const year = /\b(\d{4})\b/.exec(text)?.[1];
  return month > 0 && day !== undefined && year !== undefined ? toIso(year, month, day) : undefined;
}

function toIso(year: string | undefined, month: number, day: string | undefined): string {
  return `${year}-${String(month).padStart(2, '0')}-${(day ?? '').padStart(2, '0')}`;
}
