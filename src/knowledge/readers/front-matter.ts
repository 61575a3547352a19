import type { MetadataValue, Scalar } from '../../core/chat/document.js';

/** The text below front matter, and the values in that. */
export interface FrontMatter {
  readonly text: string;
  readonly values: Readonly<Record<string, MetadataValue>>;
}

const FENCE = /^---[ \t]*\r?\n/;
const END = /^(?:---|\.\.\.)[ \t]*$/;
const FIELD = /^([^\s:#-][^:]*):(?:[ \t]+(.*))?$/;
const ITEM = /^[ \t]*-[ \t]+(.*)$/;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;
const MAX_LINES = 1_000;

/** Splits off front matter: YAML with one value or one list for each name, between two lines of `---`. */
export function splitFrontMatter(text: string): FrontMatter {
  const start = FENCE.exec(text)?.[0].length;
  if (start === undefined) return { text, values: {} };
  const lines: string[] = [];
  for (let at = start; at < text.length && lines.length < MAX_LINES;) {
    const feed = text.indexOf('\n', at);
    const next = feed < 0 ? text.length : feed + 1;
    const line = text.slice(at, next).trimEnd();
    if (END.test(line)) return { text: text.slice(next), values: valuesOf(lines) };
    lines.push(line);
    at = next;
  }
  return { text, values: {} };
}

function valuesOf(lines: readonly string[]): Readonly<Record<string, MetadataValue>> {
  const values = new Map<string, MetadataValue>();
  let list: Scalar[] | undefined;
  let name = '';
  for (const line of lines) {
    const item = ITEM.exec(line)?.[1];
    const field = FIELD.exec(line);
    if (item !== undefined && list) {
      list.push(scalarOf(item));
      values.set(name, list);
    } else if (field?.[1] !== undefined) {
      name = unquoted(field[1].trim());
      const value = withoutComment(field[2]?.trim() ?? '');
      list = value === '' ? [] : undefined;
      if (/^\[.*\]$/.test(value)) values.set(name, flowList(value.slice(1, -1)));
      else if (value !== '' && !/^[{|>&*!]/.test(value)) values.set(name, scalarOf(value));
    } else if (line !== '') list = undefined;
  }
  return Object.fromEntries(values);
}

function flowList(text: string): readonly Scalar[] {
  const items = text.match(/\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^,]+)/g) ?? [];
  return items
    .map((item) => item.trim())
    .filter(Boolean)
    .map(scalarOf);
}

function withoutComment(value: string): string {
  if (/^["']/.test(value)) return value;
  const comment = value.search(/(?:^|[ \t])#/);
  return comment < 0 ? value : value.slice(0, comment).trimEnd();
}

function scalarOf(value: string): Scalar {
  if (NUMBER.test(value) && Number.isFinite(Number(value))) return Number(value);
  if (value === 'true' || value === 'false') return value === 'true';
  return unquoted(value);
}

function unquoted(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/.test(value)) return value;
  return value
    .slice(1, -1)
    .replaceAll(/\\(["\\])/g, '$1')
    .replaceAll('\\n', '\n');
}
