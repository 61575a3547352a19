import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import * as core from '../src/index.js';
import * as openai from '../src/models/openai/index.js';
import * as testing from '../src/testing/index.js';

const { AdvisorChainError, CancelledError, InvalidArgumentError, ModelCallError } = core;
type ErrorClass = new (...args: readonly unknown[]) => core.AdvisorChainError & Readonly<Record<string, unknown>>;

interface Row {
  readonly name: string;
  readonly code: string;
  readonly fields: readonly string[];
}

const codeSpans = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span as string);

/** The rows of the tables of a section of docs/errors.md. */
function documented(section: string): readonly Row[] {
  const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');
  const text = page.split(/^## /m).find((part) => part.startsWith(section)) ?? '';
  const rows = text.split('\n').flatMap((line) => {
    const [, name = '', code = '', fields = '', when = '', what = ''] = line.split('|').map((cell) => cell.trim());
    if (!name.startsWith('`')) return [];
    expect(when, name).to.match(/\.$/);
    expect(what, name).to.match(/\.$/);
    return [{ name: codeSpans(name)[0] ?? '', code: codeSpans(code)[0] ?? '', fields: fieldsOf(fields) }];
  });
  expect(rows).not.to.be.empty;
  return rows;
}

const MODEL_FIELDS = ['status', 'providerCode', 'providerMessage', 'retryable', 'retryAfter', 'partialText'];

function fieldsOf(cell: string): readonly string[] {
  return (cell === 'those of `ModelCallError`' ? MODEL_FIELDS : codeSpans(cell)).toSorted();
}

/** An error of each class that an entry exports, with the name of the export. */
function errorsOf(entry: object): readonly (readonly [string, InstanceType<ErrorClass>])[] {
  return Object.entries(entry)
    .filter(([, value]) => typeof value === 'function' && value.prototype instanceof AdvisorChainError)
    .map(([name, value]) => [name, new (value as ErrorClass)('message')]);
}

function exported(entry: object): readonly Row[] {
  return errorsOf(entry).map(([name, error]) => {
    const own = Object.keys(error).filter((field) => field !== 'name' && field !== 'code');
    return { name, code: error.code, fields: own.toSorted() };
  });
}

const byName = (rows: readonly Row[]): readonly Row[] => rows.toSorted((a, b) => a.name.localeCompare(b.name));

describe('docs/errors.md', () => {
  for (const [section, entry] of [
    ['Errors of `advisor-chain`\n', core],
    ['Errors of `advisor-chain/testing`\n', testing],
  ] as const) {
    it(`lists exactly the classes, codes and fields of the ${section.trim().toLowerCase()}`, () => {
      expect(byName(documented(section))).to.deep.equal(byName(exported(entry)));
    });
  }

  it('misses no other entry that has errors', () => {
    expect(exported(openai)).to.deep.equal([]);
  });
});

describe('an error', () => {
  const all = [...exported(core), ...exported(testing)];

  it('has a code that no other class has', () => {
    expect(new Set(all.map(({ code }) => code)).size).to.equal(all.length);
    for (const { code } of all) expect(code).to.match(/^[a-z]+(_[a-z]+)*$/);
  });

  it('has the name of its class', () => {
    for (const [name, error] of [...errorsOf(core), ...errorsOf(testing)]) expect(String(error)).to.equal(`${name}: ${error.message}`);
  });

  it('has its message and a stack', () => {
    const error = new CancelledError('over');

    expect([error.name, error.message, String(error)]).to.deep.equal(['CancelledError', 'over', 'CancelledError: over']);
    expect(error.stack).to.include('errors.test');
  });

  it('has the cause that it was given, also an undefined one, and none otherwise', () => {
    const cause = new Error('deeper');

    expect(new CancelledError('over', { cause }).cause).to.equal(cause);
    expect('cause' in new CancelledError('over', { cause: undefined })).to.equal(true);
    expect('cause' in new CancelledError('over')).to.equal(false);
  });

  it('of a model call is not retryable unless it says so', () => {
    const bare = new ModelCallError('failed');
    const full = new ModelCallError('failed', { status: 429, retryable: true, retryAfter: 1_000, partialText: 'Hel' });

    expect([bare.retryable, bare.status]).to.deep.equal([false, undefined]);
    expect(full).to.include({ status: 429, retryable: true, retryAfter: 1_000, partialText: 'Hel' });
  });

  it('is known by isInstance, and nothing else is', () => {
    expect(AdvisorChainError.isInstance(new InvalidArgumentError('no'))).to.equal(true);
    for (const other of [new Error('no'), null, undefined, 'no', { code: 'invalid_argument' }])
      expect(AdvisorChainError.isInstance(other)).to.equal(false);
  });

  it('[F82] of another copy of the package is known too', async () => {
    const copy = (await import(`${new URL('../src/errors.ts', import.meta.url).href}?copy`)) as typeof core;
    const foreign = new copy.CancelledError('over');

    expect(foreign).not.to.be.instanceOf(CancelledError);
    expect(AdvisorChainError.isInstance(foreign) && foreign.code).to.equal('cancelled');
  });
});
