import fc from 'fast-check';
import { EVASIONS } from './guard-evasions.js';
import { hostileVersions } from './hostile-bodies.js';

/** Property that scripts of {@link SCRIPTS} set if they run. */
export const ATTACKED = 'isAttacked';
const RUN = `window.${ATTACKED}=true`;

/** Texts that run a script where they become HTML, an address or a style. */
const SCRIPTS: readonly string[] = [
  `<script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `"><svg/onload=${RUN}>`,
  `'-(${RUN})-'`,
  `<iframe srcdoc="<script>parent.${ATTACKED}=true</script>"></iframe>`,
  `<details open ontoggle=${RUN}>`,
  `<math><mtext></p><style><img src onerror=${RUN}></style>`,
  `javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `<a href="javascript:${RUN}">click</a>`,
  `<form action="https://evil.example"><input name=a autofocus onfocus=${RUN}></form>`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `<link rel=stylesheet href=https://evil.example/a.css>`,
  `<base href=https://evil.example/>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example">`,
  `</title></style></textarea><script>${RUN}</script>`,
  `red;background:url(https://evil.example/)`,
  `<!--<img src="--><img src=x onerror=${RUN}//">`,
];

/** Texts that change the direction or the size of what is around them. */
const SHAPES: readonly string[] = [
  '\u202E\u2066right to left',
  '\u2067\u2067\u2067'.repeat(50),
  'مرحبا بالعالم'.repeat(40),
  `Z${'\u0301'.repeat(400)}`,
  'x'.repeat(5_000),
  '\u00A0'.repeat(3_000),
  'https://example.org/'.repeat(300),
  '\n'.repeat(500),
  '\t'.repeat(500),
  '\uFDFD'.repeat(200),
  '👩‍👩‍👧‍👦'.repeat(200),
  '\0\u0001\u001B[31m',
  '\uD800',
  'Ꙭ𒐫'.repeat(300),
  'a\u200B'.repeat(1_000),
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
];

const MEGABYTE = 1_000_000;
/** Larger texts are cut, but for the few of a megabyte. */
const MAX_LENGTH = 20_000;

/** Texts for the fields of a page: scripts, directions, sizes, evasions of guards, and bodies that are damaged. */
export function hostileTexts(count: number): readonly string[] {
  const evasions = EVASIONS.flatMap(({ text }) =>
    typeof text === 'string' ? [text] : 'deltas' in text ? text.deltas : text.messages,
  );
  const huge = ['x', '<b>', '\u202E', 'a b '].map((part) =>
    part.repeat(Math.ceil(MEGABYTE / part.length)),
  );
  const known = [...SCRIPTS, ...SHAPES, ...evasions, ...huge];
  const body = { role: 'user', content: SCRIPTS.slice(0, 8), id: 'c1', name: SHAPES[0] };
  const damaged = fc.sample(hostileVersions(body), Math.max(0, count - known.length));
  return [...known, ...damaged.map((text) => text.slice(0, MAX_LENGTH))].slice(0, count);
}

/** A value with each of its texts replaced, but for texts of some keys, by which code decides. */
export function withTexts(value: unknown, next: () => string, kept: ReadonlySet<string>): unknown {
  const replaced = (inner: unknown, key: string): unknown => {
    if (typeof inner === 'string') return kept.has(key) ? inner : next();
    if (Array.isArray(inner)) return inner.map((each) => replaced(each, key));
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) => [name, replaced(each, name)]),
    );
  };
  return replaced(value, '');
}
