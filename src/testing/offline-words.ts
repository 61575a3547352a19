/** A word of a text and where it stands. */
export interface Word {
  readonly text: string;
  readonly stem: string;
  readonly start: number;
  readonly end: number;
}

const list = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** Words that carry structure, not meaning. */
const STOP_WORDS = list(
  `a about above after again all also am an and another any anyone are as at be been before being below between both but by can
  could did do does doing done down each either else ever every few for from further had has have having he hello help her here hers
  hey hi him his how i if in into is it its just kindly let like ll many may me might mine more most much must my need no nor not
  now of off ok okay on once one only onto or other our ours out over own per please re same shall she should so some such than
  thank thanks that the their them then there these they this those through thus to too under until up upon us using via very
  want wants was we were what whats when where whether which while who whom whose why will with within without would yes you your
  yours ve s t d m wanna gonna wish prefer interested looking near
  nearby including include includes contain contains than less least around serve serves offer offers offering`,
);

/** Words that begin a request; with a capital letter they look like names. */
const IMPERATIVES = list(
  `add analyse analyze arrange ask assess book build buy calculate call cancel change choose close compare compose convert copy count
  create delete describe design determine download draw estimate evaluate execute explain fetch filter find generate give identify
  initialize initiate join list locate measure move need obtain open order organize pay plan play predict prepare provide pull put
  recommend record remind remove rent report reserve retrieve review save schedule search sell send set share shuffle simulate solve
  sort start stop suggest summarize summarise take tell track translate turn update upload validate verify view write`,
);

/** Verbs that fit nearly every tool, so that they say little about which one is meant. */
const VAGUE_WORDS = list(
  `get find show give tell list fetch retrieve return provide compute calculate determine check look lookup search make create use
  know see run perform value number information info detail data result given specific input type name id new set function method
  parameter optional string list first last current found based related located given called named made`,
);

/** Words that stand for one another when people and tools talk about the same thing. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['price', 'cost', 'fare', 'fee', 'expense', 'expensive', 'cheap', 'cheapest', 'charge'],
  ['weather', 'forecast', 'temperature', 'rain', 'sunny', 'snow', 'umbrella', 'warm', 'warmer', 'cold', 'colder', 'hot', 'hotter'],
  ['flight', 'fly', 'flying', 'plane'],
  ['buy', 'purchase', 'order'],
  ['send', 'mail', 'email'],
  ['delete', 'remove', 'cancel', 'erase'],
  ['add', 'create', 'make', 'new', 'insert'],
  ['sum', 'total', 'add', 'plus', 'altogether'],
  ['multiply', 'times', 'product', 'multiplied'],
  ['divide', 'divided', 'quotient'],
  ['route', 'direction', 'path', 'map', 'navigate'],
  ['time', 'clock', 'hour'],
  ['currency', 'dollar', 'euro', 'yen', 'usd', 'eur', 'money'],
  ['probability', 'odds', 'chance', 'likelihood'],
  ['convert', 'exchange', 'change', 'conversion', 'converted'],
  ['hotel', 'room', 'accommodation', 'stay', 'lodging'],
  ['movie', 'film', 'cinema'],
  ['pack', 'packing', 'luggage'],
  ['book', 'reserve', 'reservation', 'booking'],
  ['picture', 'image', 'photo'],
  ['translate', 'translation'],
  ['distance', 'far'],
  ['stock', 'share'],
  ['restaurant', 'eat', 'dinner', 'lunch'],
];

const ENDINGS: readonly (readonly [ending: RegExp, by: string])[] = [
  [/(?<=\w{3})ies$/, 'y'],
  [/(?<=\w{2}(?:ss|x|ch|sh|z))es$/, ''],
  [/(?<=\w{2}[^su])s$/, ''],
  [/(?<=\w{3})(?:ation|ator|ating|ated)$/, 'ate'],
  [/(?<=\w{3})(?:ing|ed)$/, ''],
  [/(?<=\w{4})ly$/, ''],
  [/(?<=\w{3})y$/, 'i'],
];

/** Stems found so far: the words of tools come again with every question. */
const STEMS = new Map<string, string>();
const MAX_STEMS = 20_000;
const MAX_WORD = 40;

/** A light stem: enough to make `cities` and `city`, `calculation` and `calculate` equal. */
export function stemOf(word: string): string {
  const known = STEMS.get(word);
  if (known !== undefined) return known;
  if (word.length > MAX_WORD) return shorten(word.toLowerCase());
  if (STEMS.size >= MAX_STEMS) STEMS.clear();
  const stem = shorten(word.toLowerCase());
  STEMS.set(word, stem);
  return stem;
}

function shorten(word: string): string {
  let stem = word;
  for (const [ending, by] of ENDINGS) stem = stem.replace(ending, by);
  stem = stem.replace(/([bdgklmnprt])\1$/, '$1');
  return stem.length > 3 ? stem.replace(/e$/, '') : stem;
}

const WORD = /[\p{L}\p{M}]+|\p{N}+/gu;

/** All words of a text; `getCurrentWeather` and `get_current_weather` are three. */
export function wordsOf(text: string): readonly Word[] {
  const split = text.replaceAll(/([\p{Ll}\p{N}])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2\u0000');
  const words: Word[] = [];
  let added = 0; // marks so far: positions are those of the text without them
  let at = 0;
  for (const match of split.matchAll(WORD)) {
    for (; at < match.index; at++) if (split[at] === '\u0000') added++;
    const start = match.index - added;
    words.push({ text: match[0], stem: stemOf(match[0]), start, end: start + match[0].length });
  }
  return words;
}

/** Whether a word carries structure only. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase());
}

/** Whether a word begins a request, such as `Book` or `Compare`. */
export function isImperative(word: string): boolean {
  return IMPERATIVES.has(word.toLowerCase());
}

const VAGUE_STEMS: ReadonlySet<string> = new Set([...VAGUE_WORDS].map(stemOf));

/** Whether a stem fits nearly every tool. */
export function isVague(stem: string): boolean {
  return VAGUE_STEMS.has(stem);
}

/** The different stems of a text that carry meaning, in order; numbers carry none. */
export function stemsOf(text: string): readonly string[] {
  return [
    ...new Set(
      wordsOf(text)
        .filter((word) => !isStopWord(word.text) && !/^\p{N}/u.test(word.text))
        .map((word) => word.stem),
    ),
  ];
}

const MEANINGS: ReadonlyMap<string, readonly string[]> = meanings();

function meanings(): Map<string, readonly string[]> {
  const bySense = new Map<string, readonly string[]>();
  for (const words of SAME_MEANING) {
    const stems = words.map(stemOf);
    for (const stem of stems) bySense.set(stem, [...(bySense.get(stem) ?? []), ...stems.filter((other) => other !== stem)]);
  }
  return bySense;
}

/** Other stems with the meaning of a stem. */
export function relatedStems(stem: string): readonly string[] {
  return MEANINGS.get(stem) ?? [];
}
