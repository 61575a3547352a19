import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import * as core from '../../../src/index.js';
import * as openai from '../../../src/models/openai/index.js';
import * as testing from '../../../src/testing/index.js';

const { AdvisorChainError, CancelledError, InvalidArgumentError, ModelCallError } = core;
type ErrorClass = new (
  ...args: readonly unknown[]
) => core.AdvisorChainError & Readonly<Record<string, unknown>>;

interface Row {
  readonly name: string;
  readonly code: string;
  readonly fields: readonly string[];
}

const codeSpans = (text: string): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span as string);

/** Text of a section of docs/errors.md. */
function sectionOf(title: string): string {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  const text = page.split(/^## /m).find((part) => part.startsWith(title));
  expect(text, title).to.be.a('string');
  return text ?? '';
}

/** The errors that a section describes, each under a heading. */
function documented(title: string): readonly Row[] {
  return sectionOf(title)
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const name = /^\w+/.exec(text)?.[0] ?? '';
      const items = new Map(
        [...text.matchAll(/^- \*\*(\w+):\*\* (.+(?:\n {2}.+)*)$/gm)].map(([, key, value = '']) => [
          key,
          value,
        ]),
      );
      for (const key of ['When', 'Do']) expect(items.get(key), `${name}: ${key}`).to.match(/\.$/);
      const fields = fieldsOf(items.get('Fields') ?? '');
      return { name, code: codeSpans(items.get('Code') ?? '').join(), fields };
    });
}

/** Codes and classes of the table at the start of a section. */
function listed(title: string): readonly (readonly string[])[] {
  return [...sectionOf(title).matchAll(/^\| `(\w+)` +\| \[(\w+)\]\(#(\w+)\)/gm)].map(
    ([, code = '', name = '', anchor = '']) => {
      expect(anchor).to.equal(name.toLowerCase());
      return [name, code];
    },
  );
}

const MODEL_FIELDS = [
  'status',
  'providerCode',
  'providerMessage',
  'retryable',
  'retryAfter',
  'contextOverflow',
  'partialText',
  'usage',
  'model',
  'url',
  'requestId',
];

function fieldsOf(cell: string): readonly string[] {
  return (cell === 'same as `ModelCallError`' ? MODEL_FIELDS : codeSpans(cell)).toSorted();
}

/** An error of each class that an entry exports, with the name of the export. */
function errorsOf(entry: object): readonly (readonly [string, InstanceType<ErrorClass>])[] {
  return Object.entries(entry)
    .filter(
      ([, value]) => typeof value === 'function' && value.prototype instanceof AdvisorChainError,
    )
    .map(([name, value]) => [name, new (value as ErrorClass)('message', {})]);
}

function exported(entry: object): readonly Row[] {
  return errorsOf(entry).map(([name, error]) => {
    const own = Object.keys(error).filter((field) => field !== 'name' && field !== 'code');
    return { name, code: error.code, fields: own.toSorted() };
  });
}

const byName = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => a.name.localeCompare(b.name));

describe('docs/errors.md', () => {
  for (const [section, entry] of [
    ['Errors of `advisor-chain`\n', core],
    ['Errors of `advisor-chain/testing`\n', testing],
  ] as const) {
    it(`lists exactly the classes, codes and fields of the ${section.trim().toLowerCase()}`, () => {
      expect(byName(documented(section))).to.deep.equal(byName(exported(entry)));
      expect(listed(section)).to.deep.equal(
        documented(section).map(({ name, code }) => [name, code]),
      );
    });
  }

  it('covers every entry with errors', () => {
    expect(exported(openai)).to.deep.equal([]);
  });
});

describe('an error', () => {
  const all = [...exported(core), ...exported(testing)];

  it('has a unique code', () => {
    expect(new Set(all.map(({ code }) => code)).size).to.equal(all.length);
    for (const { code } of all) expect(code).to.match(/^[a-z]+(_[a-z]+)*$/);
  });

  it('has the name of its class', () => {
    for (const [name, error] of [...errorsOf(core), ...errorsOf(testing)])
      expect(error.name).to.equal(name);
  });

  it('has a message and a stack', () => {
    const error = new CancelledError('over');

    expect([error.name, error.message, String(error)]).to.deep.equal([
      'CancelledError',
      'over',
      'CancelledError: over',
    ]);
    expect(error.stack).to.include('errors.test');
  });

  it('has the given cause, also undefined, and none otherwise', () => {
    const cause = new Error('deeper');

    expect(new CancelledError('over', { cause }).cause).to.equal(cause);
    expect('cause' in new CancelledError('over', { cause: undefined })).to.equal(true);
    expect('cause' in new CancelledError('over')).to.equal(false);
  });

  it('of a model call is not retryable by default', () => {
    const bare = new ModelCallError('failed');
    const full = new ModelCallError('failed', {
      status: 429,
      retryable: true,
      retryAfter: 1_000,
      partialText: 'Hel',
    });

    expect([bare.retryable, bare.status]).to.deep.equal([false, undefined]);
    expect(full).to.include({
      status: 429,
      retryable: true,
      retryAfter: 1_000,
      partialText: 'Hel',
    });
  });

  it('is recognized by isInstance, other values are not', () => {
    expect(AdvisorChainError.isInstance(new InvalidArgumentError('no'))).to.equal(true);
    for (const other of [new Error('no'), null, undefined, 'no', { code: 'invalid_argument' }])
      expect(AdvisorChainError.isInstance(other)).to.equal(false);
  });

  it('[F82] of another copy of the package is recognized, too', async () => {
    const copy = (await import(
      `${new URL('../../../src/core/errors/errors.ts', import.meta.url).href}?copy`
    )) as typeof core;
    const foreign = new copy.CancelledError('over');

    expect(foreign).not.to.be.instanceOf(CancelledError);
    expect(AdvisorChainError.isInstance(foreign) && foreign.code).to.equal('cancelled');
  });
});
