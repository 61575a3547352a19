/** Words that negate, in the larger languages; counted, not compared. */
const NEGATIONS =
  'not no never none nothing nobody nowhere neither nor without except unless hardly barely ' +
  'nicht kein keine keinen keinem keiner keines nie niemals nichts niemand nirgends ohne weder ausser außer ' +
  'ne pas jamais sans aucun aucune rien personne ni sauf ' +
  'nunca jamás sin ningún ninguna ninguno nada nadie tampoco excepto ' +
  'non mai senza nessun nessuno nessuna niente nulla né tranne ' +
  'não sem nenhum nenhuma ninguém nem exceto ' +
  'niet geen nooit niets niemand zonder noch inte ej ingen inget inga aldrig utan ikke ingenting uten uden ' +
  'nie nigdy nikt nic bez ani žádný nikdy ' +
  'не нет ни без никогда ничего никто немає ніколи δεν μην χωρίς ποτέ ' +
  'değil yok hiç olmadan tidak bukan jangan tanpa không chưa لا ليس لم لن بدون غير नहीं मत बिना न לא אין בלי';

/** Negations of scripts without spaces, which stand within other characters. */
export const NEGATION_CHARACTERS =
  /[不没沒未无無非勿莫]|ない|ません|なく|なかった|ずに|않|안 |못|없|아니|ไม่|มิ/gu;

const NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
  'eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half ' +
  'quarter double triple twice thrice first second third fourth fifth sixth seventh eighth ninth tenth last next ' +
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig hundert tausend ' +
  'halb erste erster ersten zweite zweiten dritte dritten letzte letzten nächste nächsten ' +
  'deux trois quatre cinq sept huit neuf dix onze douze vingt trente quarante cinquante cent mille premier première ' +
  'deuxième troisième dernier dernière dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cien mil ' +
  'primero segunda segundo tercero último última due tre quattro cinque sei sette otto nove dieci venti trenta cento ' +
  'dois duas três quatro sete oito dez vinte een twee drie vijf zes zeven tien twintig honderd';

/** Connect a number to what it counts, as in "5 de mayo". */
const CONNECTORS = 'de del di du of von van d';

/** Words that open a sentence and carry no name, and those that never name what a number counts. */
const FUNCTION_WORDS =
  'a an the i you he she it we they me my your his her its our their this that these those and or but if then than as at ' +
  'by for from in into of on off onto out over to up with about after before between during until is are was were be been ' +
  'am do does did done have has had can could will would shall should may might must let what which who whom whose when ' +
  'where why how there here please tell show give explain hello hi hey thanks thank ' +
  'der die das ein eine einen einem einer ich du er sie es wir ihr und oder aber wenn als an auf aus bei bis für im in ' +
  'mit nach seit über um unter von vor zu zum zur ist sind war waren hat haben kann können wird werden soll muss was wer ' +
  'wen wem wann wo wohin woher warum wie welche welcher welches bitte ' +
  'le la les un une des je tu il elle on nous vous ils elles et ou mais si à au aux avec chez dans en entre par pour sur ' +
  'est sont était a ont peut qui que quoi quand où pourquoi comment combien quel quelle quels quelles ' +
  'el los las una unos unas yo tú él ella y o pero si al con desde en entre hasta para por según sobre es son era está ' +
  'están ha han puede qué quién quiénes cuándo dónde cómo cuánto cuánta cuántos cuántas cuál cuáles ' +
  'lo gli uno io che chi quando dove perché come quanto quale sono era ha può e con per tra fra su o os as um uma eu ' +
  'você em no na nos nas com por para é são onde como quanto qual het een ik jij en of maar op uit voor naar wat wie ' +
  'wanneer waar waarom hoe welke';

const LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'sv',
  'da',
  'nb',
  'pl',
  'cs',
  'ru',
  'uk',
  'tr',
  'el',
  'id',
];

const setOf = (...texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.join(' ').split(' '));

export const NEGATION_WORDS = setOf(NEGATIONS);
export const NUMBER_WORDS = setOf(NUMBERS);
export const NUMBER_CONNECTORS = setOf(CONNECTORS);
export const FUNCTION_WORD = setOf(FUNCTION_WORDS);

let dates: ReadonlySet<string> | undefined;

/** True for the name of a month, a weekday or a day such as `tomorrow`, as the platform knows them. */
export function isDateWord(word: string): boolean {
  return (dates ??= dateWords()).has(word);
}

function dateWords(): ReadonlySet<string> {
  const words = new Set<string>();
  for (const language of LANGUAGES) {
    for (const style of ['long', 'short'] as const) {
      const month = new Intl.DateTimeFormat(language, { month: style, day: 'numeric', timeZone: 'UTC' }); // prettier-ignore
      const weekday = new Intl.DateTimeFormat(language, { weekday: style, timeZone: 'UTC' });
      for (let at = 0; at < 12; at++) addWords(words, month, Date.UTC(2024, at, 1));
      for (let at = 1; at <= 7; at++) addWords(words, weekday, Date.UTC(2024, 0, at));
    }
    const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
    for (const days of [-1, 0, 1]) words.add(relative.format(days, 'day').toLowerCase());
  }
  // "may" is a verb, and a day of two letters, such as "do", is a word of another language
  return new Set([...words].filter((word) => word.length > 2 && !FUNCTION_WORD.has(word)));
}

function addWords(words: Set<string>, format: Intl.DateTimeFormat, time: number): void {
  for (const { type, value } of format.formatToParts(time))
    if (type === 'month' || type === 'weekday') words.add(value.toLowerCase().replace(/\.$/, ''));
}
