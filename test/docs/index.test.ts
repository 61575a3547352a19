import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const markdown = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .map((path) => `docs/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.md') && !path.startsWith('docs/site/'));
const pages = markdown.filter((path) => !/^docs\/(decisions\/|(advisors\/)?index\.md$)/.test(path));

interface Entry {
  readonly title: string;
  readonly path: string;
  readonly summary: string;
}

/** The entries of a page that match a pattern of title, link and summary. */
function entriesOf(page: string, pattern: RegExp): readonly Entry[] {
  return [...read(page).matchAll(pattern)].map(([, title = '', link = '', summary = '']) => ({
    title,
    path: posix.join(posix.dirname(page), link),
    summary,
  }));
}

const ROW = /^\| \[([^\]]+)\]\(([^)]+)\) .*\| ([^|]+?) +\|$/gm;
const ITEM = /^- \[([^\]]+)\]\(([^)]+)\): (.+)$/gm;

/** Relative links of a page, without those in code. */
function linksOf(page: string): readonly string[] {
  const text = read(page).replaceAll(/^```[\s\S]*?^```$|`[^`\n]+`/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** Anchors of the headings of a page, as GitHub writes them. */
function anchorsOf(page: string): readonly string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

function isBroken(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(join(root, target))) return true;
  return anchor !== undefined && !anchorsOf(target).includes(anchor);
}

describe('the index of docs', () => {
  const indexed = ['docs/index.md', 'docs/models.md', 'docs/advisors/index.md'].flatMap((page) =>
    entriesOf(page, ROW),
  );
  const byPath = (entries: readonly Entry[]): readonly Entry[] =>
    entries.toSorted((a, b) => a.path.localeCompare(b.path));

  it('lists every page', () => {
    const paths = indexed.map(({ path }) => path);

    expect(pages.filter((page) => !paths.includes(page))).to.deep.equal([]);
    expect(new Set(paths).size).to.equal(paths.length);
  });

  it('is the same in docs/llms.txt', () => {
    expect(byPath(entriesOf('docs/llms.txt', ITEM))).to.deep.equal(byPath(indexed));
  });
});

/** Patterns of the files of the package, besides those that npm always adds. */
const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };
const isPacked = (path: string): boolean =>
  ['README.md', 'LICENSE', 'package.json', ...files].some((each) =>
    new RegExp(`^${each.replaceAll('.', '\\.').replace('*', '[^/]+')}(/|$)`).test(path),
  );

describe('relative links of the package', () => {
  it('[D36] lead to files that the package has', () => {
    const packed = ['README.md', 'CHANGELOG.md', 'docs/llms.txt', ...markdown].filter(isPacked);
    const dead = packed.flatMap((page) =>
      linksOf(page)
        .filter((link) => !link.startsWith('#'))
        .filter((link) => !isPacked(posix.join(posix.dirname(page), link.replace(/#.*/, ''))))
        .map((link) => `${page}: ${link}`),
    );

    expect(packed).to.include.members(['README.md', 'docs/models.md', 'docs/advisors/index.md']);
    expect(dead).to.deep.equal([]);
  });
});

describe('the guide for users of Spring AI', () => {
  it('[D40] shows both languages, in fewer than 1,500 words', () => {
    const guide = read('docs/migrating-from-spring-ai.md');

    expect(guide.split(/\s+/).length).to.be.below(1_500);
    expect(guide.match(/^```java$/gm)).to.have.length.above(3);
    expect(guide.match(/^```ts$/gm)).to.have.length.above(3);
  });
});

describe('the decisions', () => {
  it('have the number of their file, each a different one', () => {
    const decisions = markdown.filter((path) => path.startsWith('docs/decisions/'));
    const numbers = decisions.map((path) => /(\d{4})-/.exec(path)?.[1]);

    expect(decisions.map((path) => /^# (\d{4}): /.exec(read(path))?.[1])).to.deep.equal(numbers);
    expect(new Set(numbers).size).to.equal(numbers.length);
  });
});

describe('relative links of the documentation', () => {
  it('lead to files and headings that exist', () => {
    const documents = ['README.md', 'CONTRIBUTING.md', 'docs/llms.txt', ...markdown];
    const broken = documents.flatMap((page) =>
      linksOf(page)
        .filter((link) => isBroken(page, link))
        .map((link) => `${page}: ${link}`),
    );

    expect(broken).to.deep.equal([]);
  });
});
