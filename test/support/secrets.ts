import fc from 'fast-check';
import type { PiiKind } from '../../advisors/guard/pii-rule.js';
import type { SecretKind } from '../../advisors/guard/secret-rule.js';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const WORD = `${LOWER}${UPPER}${DIGITS}`;

const of = (characters: string, minLength: number, maxLength = minLength): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength });
const text = (...parts: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc
    .tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part)))
    .map((all) => all.join(''));
const byte = fc.integer({ min: 0, max: 255 }).map(String);
const grouped = (value: string, sizes: readonly number[], separator: string): string => {
  let at = 0;
  return sizes.map((size) => value.slice(at, (at += size))).join(separator);
};

function withLuhn(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return digits + String((10 - (sum % 10)) % 10);
}

function ibanOf(country: string, account: string): string {
  const digits = [...`${account}${country}00`].map((each) => parseInt(each, 36)).join('');
  return `${country}${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${account}`;
}

const separators = fc.constantFrom('', ' ', '-', '.');
const PII: Readonly<Record<PiiKind, fc.Arbitrary<string>>> = {
  card: fc.oneof(
    fc
      .tuple(of(DIGITS, 14), separators)
      .map(([rest, separator]) => grouped(withLuhn(`4${rest}`), [4, 4, 4, 4], separator)),
    fc
      .tuple(of(DIGITS, 12), separators)
      .map(([rest, separator]) => grouped(withLuhn(`37${rest}`), [4, 6, 5], separator)),
    fc
      .tuple(of(DIGITS, 13), separators)
      .map(([rest, separator]) => grouped(withLuhn(`55${rest}`), [4, 4, 4, 4], separator)),
  ),
  iban: fc.oneof(
    of(DIGITS, 18).map((account) => ibanOf('DE', account)),
    of(DIGITS, 18).map((account) => grouped(ibanOf('DE', account), [4, 4, 4, 4, 4, 2], ' ')),
    fc.tuple(of(UPPER, 4), of(DIGITS, 14)).map(([bank, account]) => ibanOf('GB', bank + account)),
    fc
      .tuple(of(DIGITS, 10), of(`${UPPER}${DIGITS}`, 11), of(DIGITS, 2))
      .map(([bank, account, end]) =>
        grouped(ibanOf('FR', bank + account + end), [4, 4, 4, 4, 4, 4, 3], ' '),
      ),
  ),
  email: text(
    of(LOWER, 1),
    of(`${WORD}._+-`, 0, 20),
    of(LOWER, 1),
    '@',
    of(LOWER, 1, 12),
    fc.constantFrom('.com', '.co.uk', '.museum'),
  ),
  phone: fc.oneof(
    text('+', of('123456789', 1), of(DIGITS, 9, 12)),
    text('+49 170 ', of(DIGITS, 7)),
    text('(', of('23456789', 1), of(DIGITS, 2), ') ', of(DIGITS, 3), '-', of(DIGITS, 4)),
    text('0170 ', of(DIGITS, 3), ' ', of(DIGITS, 4)),
  ),
  ipv4: fc.tuple(byte, byte, byte, byte).map((all) => all.join('.')),
  ipv6: fc.oneof(
    fc
      .tuple(...Array.from({ length: 7 }, () => of(HEX, 4)))
      .map((all) => ['2001', ...all].join(':')),
    text('fe80::', of(HEX, 1, 4), ':', of(HEX, 4)),
    text('2001:db8::', of(HEX, 2)),
  ),
  'mac-address': fc
    .tuple(...Array.from({ length: 6 }, () => of(HEX, 2)))
    .map((all) => all.join(':')),
  'us-social-security': text(
    of('12345', 1),
    of(DIGITS, 2),
    '-',
    of('123456789', 2),
    '-',
    of('123456789', 4),
  ),
};
const start = (
  prefix: string,
  characters: string,
  min: number,
  max = min + 30,
): fc.Arbitrary<string> => text(prefix, of(characters, min, max));
const CREDENTIALS: Readonly<Record<SecretKind, fc.Arbitrary<string>>> = {
  'anthropic-key': start('sk-ant-api03-', `${WORD}_-`, 80),
  'openai-key': fc.oneof(start('sk-', WORD, 40), start('sk-proj-', `${WORD}_-`, 120)),
  'aws-key-id': fc.oneof(
    start('AKIA', `${UPPER}234567`, 16, 16),
    start('ASIA', `${UPPER}234567`, 16, 16),
  ),
  'azure-storage-key': text('AccountKey=', of(`${WORD}+/`, 86), '=='),
  'google-api-key': start('AIza', `${WORD}_-`, 35, 35),
  'google-oauth-token': fc.oneof(start('ya29.', `${WORD}_-`, 60), start('GOCSPX-', WORD, 28)),
  'github-token': fc.oneof(start('ghp_', WORD, 36, 36), start('github_pat_', `${WORD}_`, 82, 82)),
  'gitlab-token': start('glpat-', `${WORD}_-`, 20),
  'slack-token': fc.oneof(start('xoxb-', `${DIGITS}-`, 20), start('xapp-1-', `${WORD}-`, 40)),
  'slack-webhook': text(
    'hooks.slack.com/services/T',
    of(UPPER, 8),
    '/B',
    of(UPPER, 8),
    '/',
    of(WORD, 24),
  ),
  'stripe-key': fc.oneof(
    start('sk_live_', WORD, 24),
    start('rk_test_', WORD, 24),
    start('whsec_', WORD, 32),
  ),
  'square-token': start('sq0atp-', `${WORD}_-`, 22, 22),
  'sendgrid-key': text('SG.', of(WORD, 22), '.', of(WORD, 43)),
  'mailgun-key': start('key-', HEX, 32, 32),
  'mailchimp-key': text(of(HEX, 32), '-us', of(DIGITS, 2)),
  'twilio-key': fc.oneof(start('SK', HEX, 32, 32), start('AC', HEX, 32, 32)),
  'npm-token': start('npm_', WORD, 36, 36),
  'pypi-token': start('pypi-AgEIcHlwaS5vcmc', `${WORD}_-`, 100),
  'huggingface-token': start('hf_', WORD, 34, 34),
  'groq-key': start('gsk_', WORD, 52, 52),
  'xai-key': start('xai-', WORD, 80, 80),
  'databricks-token': start('dapi', HEX, 32, 32),
  'digitalocean-token': start('dop_v1_', HEX, 64, 64),
  'shopify-token': start('shpat_', HEX, 32, 32),
  'telegram-token': text(of('123456789', 9), ':', of(WORD, 35)),
  'vault-token': start('hvs.', `${WORD}_-`, 90),
  'notion-token': fc.oneof(start('ntn_', WORD, 46, 46), start('secret_', WORD, 43, 43)),
  'linear-key': start('lin_api_', WORD, 40, 40),
  'grafana-token': start('glsa_', `${WORD}_`, 41, 41),
  'age-key': start('AGE-SECRET-KEY-1', `${UPPER}${DIGITS}`, 58, 58),
  jwt: text('eyJ', of(WORD, 17, 60), '.eyJ', of(WORD, 20, 300), '.', of(`${WORD}_-`, 43)),
  'url-password': text('//', of(LOWER, 1, 10), ':', of(`${WORD}!$%+`, 1, 20)),
  'private-key': fc
    .tuple(
      fc.constantFrom('', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED '),
      fc.array(of(`${WORD}+/`, 64), { minLength: 1, maxLength: 20 }),
    )
    .map(
      ([kind, lines]) =>
        `-----BEGIN ${kind}PRIVATE KEY-----\n${lines.join('\n')}\n-----END ${kind}PRIVATE KEY-----`,
    ),
};

/** Made-up secrets by kind. */
export const SECRETS: Readonly<Record<PiiKind | SecretKind, fc.Arbitrary<string>>> = {
  ...PII,
  ...CREDENTIALS,
};

/** A secret and its kind; a password is between the scheme and the host of a URL. */
export const anySecret: fc.Arbitrary<{
  readonly kind: string;
  readonly written: string;
  readonly shown: string;
}> = fc
  .constantFrom(...(Object.keys(SECRETS) as (keyof typeof SECRETS)[]))
  .chain((kind) =>
    SECRETS[kind].map((secret) =>
      kind === 'url-password'
        ? { kind, written: `postgres:${secret}@db`, shown: `postgres:[${kind}]@db` }
        : { kind, written: secret, shown: `[${kind}]` },
    ),
  );
