/** Lengths of IBANs by country, of the registry of SWIFT. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 ' +
    'EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 ' +
    'IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 ' +
    'NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 ' +
    'SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
/** First digits and lengths of card numbers: Visa, Mastercard, American Express and others. */
const CARD =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}|(?:50|5[6-9]|6\d)\d{11,17})$/;
const MIN_CARD = 13;
const MAX_CARD = 19;

/** Length of the card number at the start of digits and separators, 0 if there is none. */
export function cardLength(text: string): number {
  const ends: number[] = [];
  for (let at = 0; at < text.length; at++) if (isDigit(text, at)) ends.push(at + 1);
  for (let count = Math.min(MAX_CARD, ends.length); count >= MIN_CARD; count--) {
    const end = ends[count - 1] as number;
    if (isDigit(text, end)) continue;
    const digits = text.slice(0, end).replace(/\D/g, '');
    if (CARD.test(digits) && passesLuhn(digits)) return end;
  }
  return 0;
}

/** Length of the IBAN at the start of letters, digits and separators, 0 if there is none. */
export function ibanLength(text: string): number {
  const characters = text.replace(/[^\dA-Za-z]/g, '').toUpperCase();
  const length = IBAN_LENGTHS.get(characters.slice(0, 2));
  if (length === undefined || characters.length < length) return 0;
  if (!passesMod97(characters.slice(0, length))) return 0;
  for (let at = 0, count = 0; at < text.length; at++)
    if (/[\dA-Za-z]/.test(text[at] as string) && ++count === length) return at + 1;
  return 0;
}

/** Length of an IPv6 address, 0 if the groups do not form one. */
export function ipv6Length(text: string): number {
  const [before = '', after, more] = text.split('::');
  const groups = `${before}:${after ?? ''}`.split(':').filter(Boolean);
  const count = groups.length + (groups.at(-1)?.includes('.') ? 1 : 0);
  const isValid = after === undefined ? count === 8 : more === undefined && count > 0 && count < 8;
  return isValid && /\d/.test(text) ? text.length : 0;
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = Number(digits[at]) * (isDoubled ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}
