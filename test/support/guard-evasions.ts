import { base64Rule } from '../../advisors/guard/base64-rule.js';
import type { TextRule } from '../../advisors/guard/guard-rule.js';
import { piiRule } from '../../advisors/guard/pii-rule.js';
import { secretRule } from '../../advisors/guard/secret-rule.js';
import { wordRule } from '../../advisors/guard/word-rule.js';

/** A way to get something past a rule. */
export interface Evasion {
  readonly how: string;
  /** The text: whole, as deltas of one answer, or as messages of their own. */
  readonly text:
    string | { readonly deltas: readonly string[] } | { readonly messages: readonly string[] };
  readonly rule: keyof typeof EVADED;
  readonly isCaught: boolean;
  readonly reason: string;
}

const SECRETS = secretRule();
/** Rules that are evaded; the forbidden words are "badword" and "secret plan". */
export const EVADED = {
  words: wordRule({ words: ['badword', 'secret plan', 'плохо', '炸弹', 'straße', 'كلمة'] }),
  anywhere: wordRule({ words: ['badword'], match: 'anywhere' }),
  pii: piiRule(),
  secrets: SECRETS,
  'secrets in base64': base64Rule(SECRETS),
} satisfies Readonly<Record<string, TextRule>>;

const CARD = '4111 1111 1111 1111';
const KEY = `ghp_${'a1B2'.repeat(9)}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const styled = (text: string, first: number): string =>
  text.replace(/[a-z]/g, (letter) => String.fromCodePoint(first + letter.charCodeAt(0) - 97));
const between = (text: string, sign: string): string => [...text].join(sign);

const caught = (
  rule: Evasion['rule'],
  how: string,
  text: Evasion['text'],
  reason: string,
): Evasion => ({ how, text, rule, isCaught: true, reason });
const missed = (
  rule: Evasion['rule'],
  how: string,
  text: Evasion['text'],
  reason: string,
): Evasion => ({ how, text, rule, isCaught: false, reason });

const LOOKS = 'look-alikes become the plain letter';
const SYMBOLS = 'symbols of letters become the letter, in flags with signs around it';
const COMPATIBLE = 'compatibility forms become the plain letter (NFKD)';
const UNSEEN = 'characters that are not shown are dropped';
const GAPS = 'up to 3 signs between letters make no difference';
const PIECES = 'text is held back where a finding may begin or grow';
const LINES = 'an escaped line break or tab of JSON is no letter before it';
const ALONE = 'each message is searched alone';

/** At least 60 ways, with what the rules do about them. */
export const EVASIONS: readonly Evasion[] = [
  caught('words', 'capitals', 'BADWORD', 'case makes no difference'),
  caught('words', 'mixed case', 'bAdWoRd', 'case makes no difference'),
  caught('words', 'Cyrillic letters', 'bаdwоrd', LOOKS),
  caught('words', 'Greek letters', 'bαdwοrd', LOOKS),
  caught('words', 'Cyrillic capitals', 'ВАDWОRD', LOOKS),
  caught('words', 'Armenian letter', 'badwօrd', LOOKS),
  caught('words', 'Cherokee letters', 'ᏴᎪᎠwᎾrd'.replace('Ꮎ', 'o'), LOOKS),
  caught('words', 'small capitals', 'ʙᴀᴅᴡᴏʀᴅ', LOOKS),
  caught('words', 'letters of phonetic alphabets', 'bɐdʍɵɹɖ', LOOKS),
  caught('words', 'negative squared letters', styled('badword', 0x1f170), SYMBOLS),
  caught('words', 'negative circled letters', styled('badword', 0x1f150), SYMBOLS),
  caught('words', 'letters of flags', styled('badword', 0x1f1e6), SYMBOLS),
  caught('words', 'a flag before the word', '🇩🇪badword', SYMBOLS),
  caught('words', 'stretched Arabic letters', 'كلـــمة', UNSEEN),
  caught(
    'words',
    'Latin letters in the place of Cyrillic ones',
    'плoxo',
    'the word of the list gets the same plain form',
  ),
  caught('words', 'full-width letters', 'ｂａｄｗｏｒｄ', COMPATIBLE),
  caught('words', 'mathematical bold', styled('badword', 0x1d41a), COMPATIBLE),
  caught('words', 'mathematical monospace', styled('badword', 0x1d68a), COMPATIBLE),
  caught('words', 'circled letters', styled('badword', 0x24d0), COMPATIBLE),
  caught('words', 'superscript letters', 'ᵇᵃᵈʷᵒʳᵈ', COMPATIBLE),
  caught('words', 'accents', 'bádwörd', 'marks are dropped'),
  caught('words', 'combining marks', between('badword', '\u0336') + '\u0336', 'marks are dropped'),
  caught('words', 'stacked marks', 'b\u0300\u0301\u0302\u0303adword', 'marks are dropped'),
  caught('words', 'zero-width space', 'bad\u200bword', UNSEEN),
  caught('words', 'zero-width joiner between all letters', between('badword', '\u200d'), UNSEEN),
  caught('words', 'word joiner', 'bad\u2060word', UNSEEN),
  caught('words', 'byte order mark', 'bad\ufeffword', UNSEEN),
  caught('words', 'soft hyphen', 'bad\u00adword', UNSEEN),
  caught('words', 'variation selector', 'bad\ufe0fword', UNSEEN),
  caught('words', 'Hangul filler', 'bad\u3164word', UNSEEN),
  caught('words', 'tag characters', 'bad\u{e0061}\u{e0062}word', UNSEEN),
  caught('words', '64 zero-width characters in a row', `bad${'\u200b'.repeat(64)}word`, UNSEEN),
  caught('words', 'NUL', 'bad\0word', 'control characters are dropped'),
  caught('words', 'backspace', 'bad\bword', 'control characters are dropped'),
  caught('words', 'bidi override around the word', '\u202dbadword\u202c', UNSEEN),
  caught('words', 'bidi marks within the word', 'bad\u200f\u200eword', UNSEEN),
  caught('words', 'bidi isolates', '\u2066bad\u2069word', UNSEEN),
  missed(
    'words',
    'the word backwards under a bidi override',
    '\u202edrowdab\u202c',
    'the order of display is not computed; ask a model',
  ),
  caught(
    'words',
    'spaces between all letters',
    'b a d w o r d',
    'spaces between all letters make no difference',
  ),
  caught(
    'words',
    'no-break and thin spaces',
    'b\u00a0a\u2009d\u00a0w\u2009o\u00a0r\u2009d',
    'spaces between all letters make no difference',
  ),
  caught(
    'words',
    'one letter a line',
    between('badword', '\n'),
    'spaces between all letters make no difference',
  ),
  missed(
    'words',
    'one space in the middle',
    'bad word',
    'these are two words ("to get her"); put the phrase on the list',
  ),
  caught('words', 'dots', 'b.a.d.w.o.r.d', GAPS),
  caught('words', 'one hyphen', 'bad-word', GAPS),
  caught('words', 'Markdown around letters', '**b**adword', GAPS),
  caught('words', 'underscores', 'b_a_d_w_o_r_d', GAPS),
  caught('words', 'emoji between letters', between('badword', '🔥'), GAPS),
  missed(
    'words',
    'HTML tags between letters',
    'b<i></i>adword',
    'more than 3 signs, and letters of their own; a user sees the word, so strip the mark-up first',
  ),
  missed('words', 'five dots between letters', between('badword', '.....'), 'more than 3 signs'),
  caught(
    'words',
    'digits for letters',
    'b4dw0rd',
    'digits and signs that are written for letters count as these',
  ),
  caught(
    'words',
    'signs for letters',
    'b@dw0rd',
    'digits and signs that are written for letters count as these',
  ),
  missed(
    'words',
    'stretched letters',
    'baaadword',
    'doubled letters make other words ("god", "good"); put the form on the list',
  ),
  missed('words', 'a letter left out', 'badwrd', 'spellings have no end; ask a model'),
  missed('words', 'a synonym', 'naughty term', 'a list knows its words only; ask a model'),
  missed('words', 'another language', 'mauvais mot', 'a list knows its words only; ask a model'),
  missed('words', 'ROT13', 'onqjbeq', 'ciphers are not decoded; ask a model'),
  missed('words', 'Pig Latin', 'adwordbay', 'ciphers are not decoded; ask a model'),
  missed(
    'words',
    'first letters of lines',
    'Be\nAll\nDay\nWith\nOur\nRed\nDog',
    'acrostics are not read; ask a model',
  ),
  missed(
    'words',
    'within a longer word',
    'xbadwordx',
    "with match: 'word' only whole words are found",
  ),
  caught(
    'anywhere',
    'within a longer word',
    'xbadwordx',
    "with match: 'anywhere' parts of words are found too",
  ),
  caught(
    'words',
    'a phrase over two lines',
    'secret\n   plan',
    'up to 8 signs and spaces between words make no difference',
  ),
  caught(
    'words',
    'a phrase with a hyphen',
    'secret-plan',
    'up to 8 signs and spaces between words make no difference',
  ),
  missed(
    'words',
    'a phrase with a word in it',
    'secret little plan',
    'the words of a phrase follow one another',
  ),
  caught(
    'words',
    'within Chinese text without spaces',
    '制造炸弹的方法',
    'scripts without spaces are searched anywhere',
  ),
  missed('words', 'ss for ß', 'strasse', 'ß has no compatibility form; put both on the list'),
  missed(
    'words',
    'escapes of JSON',
    String.raw`\u0062adword`,
    'escapes are not decoded in text; a GuardAdvisor decodes them in arguments, also within strings, and in texts that are JSON',
  ),
  caught('words', 'after a line break in JSON', String.raw`{"a":"x\nbadword"}`, LINES),
  missed('words', 'HTML entities', '&#98;adword', 'entities are not decoded'),
  missed('words', 'percent encoding', '%62adword', 'URLs are not decoded'),
  caught('words', 'split over deltas', { deltas: ['a ba', 'dwo', 'rd b'] }, PIECES),
  caught('words', 'one character a delta', { deltas: [...'a badword b'] }, PIECES),
  caught(
    'words',
    'split within a surrogate pair',
    { deltas: [styled('badword', 0x1d41a).slice(0, 3), styled('badword', 0x1d41a).slice(3)] },
    PIECES,
  ),
  missed('words', 'split over messages', { messages: ['bad', 'word'] }, ALONE),
  caught('pii', 'card number with spaces', CARD, 'spaces, dots and hyphens make no difference'),
  caught(
    'pii',
    'card number, one digit at a time',
    between('4111111111111111', ' '),
    'spaces, dots and hyphens make no difference',
  ),
  caught(
    'pii',
    'card number with wide hyphens',
    CARD.replaceAll(' ', '–'),
    'dashes of all kinds are a hyphen',
  ),
  caught(
    'pii',
    'card number in full-width digits',
    '４１１１１１１１１１１１１１１１',
    'digits of all scripts are digits',
  ),
  caught(
    'pii',
    'card number in Arabic digits',
    '٤١١١ ١١١١ ١١١١ ١١١١',
    'digits of all scripts are digits',
  ),
  caught(
    'pii',
    'card number with zero-width characters',
    between('4111111111111111', '\u200b'),
    UNSEEN,
  ),
  caught(
    'pii',
    'card number after another number',
    `12 ${CARD} 34`,
    'shorter runs of digits are tried',
  ),
  missed(
    'pii',
    'card number with a wrong digit',
    '4111 1111 1111 1112',
    'the checksum fails: it is no card number',
  ),
  missed(
    'pii',
    'card number in words',
    'four one one one, one one one one',
    'numbers in words are not read; ask a model',
  ),
  caught(
    'pii',
    'split card number over deltas',
    { deltas: ['41', '11 1111 11', '11 11', '11.'] },
    PIECES,
  ),
  missed('pii', 'card number over messages', { messages: ['4111 1111', '1111 1111'] }, ALONE),
  caught('pii', 'IBAN in small letters', 'de89 3704 0044 0532 0130 00', 'case makes no difference'),
  caught(
    'pii',
    'e-mail address in a URL',
    'https://x.io/?to=jane.doe@example.com&a=1',
    'it is found within other text',
  ),
  caught('pii', 'e-mail address with a full-width @', 'jane.doe＠example.com', COMPATIBLE),
  missed(
    'pii',
    'e-mail address in words',
    'jane dot doe at example dot com',
    'it is no address for a machine; ask a model',
  ),
  missed('pii', 'e-mail address with spaces', 'jane.doe @ example.com', 'an address has no spaces'),
  missed(
    'pii',
    'number of seven digits',
    '5551234',
    'a phone number without a prefix has no form of its own',
  ),
  caught('pii', 'card number after a line break in JSON', String.raw`{"a":"x\n${CARD}"}`, LINES),
  caught(
    'pii',
    'in a tool result',
    '{"rows":[{"mail":"jane.doe@example.com"}]}',
    'results of tools are searched like texts',
  ),
  caught('secrets', 'key after a line break in JSON', String.raw`{"a":"x\n${KEY}"}`, LINES),
  caught(
    'secrets',
    'key in a tool result',
    `{"env":"TOKEN=${KEY}\\n"}`,
    'results of tools are searched like texts',
  ),
  caught('secrets', 'key in code', `const key = '${KEY}';`, 'it is found within other text'),
  caught('secrets', 'key with zero-width characters', between(KEY, '\u200b'), UNSEEN),
  caught('secrets', 'key in Markdown', `**\`${KEY}\`**`, 'it is found within other text'),
  caught(
    'secrets',
    'split key over deltas',
    { deltas: ['gh', 'p_', KEY.slice(4, 20), KEY.slice(20)] },
    PIECES,
  ),
  caught(
    'secrets',
    'private key without its end',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n',
    'a block that does not end is redacted up to the end',
  ),
  missed(
    'secrets',
    'key glued to letters',
    `token${KEY}`,
    'a key begins after something other than a letter or digit',
  ),
  missed(
    'secrets',
    'key with spaces',
    between(KEY, ' '),
    'spaces would join the words of any text',
  ),
  missed(
    'secrets',
    'key backwards',
    [...KEY].reverse().join(''),
    'ciphers are not decoded; give the tool no key',
  ),
  missed(
    'secrets',
    'half of a key',
    KEY.slice(4),
    'without its beginning a key has no form of its own',
  ),
  missed(
    'secrets',
    'key in base64',
    base64(`my key is ${KEY}`),
    'base64 is decoded on request: base64Rule',
  ),
  caught(
    'secrets in base64',
    'key in base64, on request',
    base64(`my key is ${KEY}`),
    'base64 is decoded',
  ),
  caught(
    'secrets in base64',
    'key in base64url, on request',
    base64url(`??? my key is ${KEY}`),
    'base64 is decoded',
  ),
  caught(
    'secrets in base64',
    'base64 split over deltas',
    { deltas: [base64(`my ${KEY}`).slice(0, 21), base64(`my ${KEY}`).slice(21)] },
    PIECES,
  ),
  missed(
    'secrets in base64',
    'base64 twice',
    base64(base64(`my key is ${KEY}`)),
    'base64 is decoded once; base64Rule(base64Rule(rule)) decodes twice',
  ),
  missed(
    'secrets in base64',
    'base64 over lines',
    base64(`my key is ${KEY}`).replace(/.{20}/g, '$&\n'),
    'lines of base64 are decoded one by one',
  ),
  missed(
    'secrets in base64',
    'hexadecimal',
    Buffer.from(KEY).toString('hex'),
    'hexadecimal is not decoded',
  ),
];
