import type * as ReadabilityPackage from '@mozilla/readability';
import type * as LinkedomPackage from 'linkedom';
import type { Document } from '../../core/chat/document.js';
import { BOOLEAN, rule } from '../../core/internal/options.js';
import { checkMarkup } from './html-limits.js';
import { MarkdownWriter, type HtmlNode } from './markdown-writer.js';
import { missingPackage, Reading, type FileContent, type ReadOptions } from './reading.js';

/** Options of {@link readHtml}. */
export interface ReadHtmlOptions extends ReadOptions {
  /** Address of the page, for its links and the metadata `url`. @default none; relative links are text */
  readonly url?: string | undefined;
  /**
   * Reads the article of the page alone, without navigation and the like; the whole page if none is
   * found, or if it has more than 20,000 tags or a million characters. @default true
   */
  readonly article?: boolean | undefined;
}

/** Limits of a page whose article is searched for, in which the time grows with the square. */
const MAX_NODES = 20_000;
const MAX_LENGTH = 1_000_000;
const RULES = {
  url: rule('an absolute URL', (value) => typeof value === 'string' && URL.canParse(value)),
  article: BOOLEAN,
};

/**
 * Reads a page as Markdown, by `linkedom` and `@mozilla/readability`. Metadata: `title`, `url`, `author`,
 * `language`, `published` where the page has them. Scripts do not run, and nothing is loaded.
 * @throws {@link DocumentReadError} if a limit is exceeded, also for more than 50,000 tags and more than
 * 100 levels of elements
 * @throws {@link InvalidArgumentError} if a package is not installed
 */
export function readHtml(content: FileContent, options: ReadHtmlOptions): Promise<Document> {
  const read = async (reading: Reading): Promise<Document> => {
    const html = reading.text;
    const nodes = checkMarkup(reading, html);
    const { url, article = true } = options;
    const page = await parsePage(html);
    const language = page.documentElement.getAttribute?.('lang') ?? undefined;
    const title = page.title.trim();
    const whole = { title, url, language };
    const hasArticle = article && nodes <= MAX_NODES && html.length <= MAX_LENGTH;
    const found = hasArticle ? await articleOf(html) : undefined;
    const writer = new MarkdownWriter(url);
    if (!found?.content) return reading.document(await writer.write(rootOf(page)), whole);
    const text = await writer.write(rootOf(await parsePage(found.content)));
    const metadata = {
      ...whole,
      title: found.title?.trim() || title,
      author: found.byline?.trim(),
      published: found.publishedTime ?? undefined,
    };
    return reading.document(text, metadata);
  };
  return Reading.run('readHtml', content, options, read, RULES);
}

/** The part of a page that is read. */
interface Page {
  readonly title: string;
  readonly body: HtmlNode | null;
  readonly documentElement: HtmlNode;
}

/** Markdown of HTML that a reader has made. */
export async function markdownOf(where: string, reading: Reading, html: string): Promise<string> {
  checkMarkup(reading, html);
  return new MarkdownWriter().write(rootOf(await parsePage(html, where)));
}

/** A page of its own, since the search for the article changes it. */
async function articleOf(
  html: string,
): Promise<ReturnType<ReadabilityPackage.Readability['parse']>> {
  const { Readability } = await loadReadability();
  return new Readability(await parsePage(html)).parse();
}

async function parsePage(html: string, where = 'readHtml'): Promise<Page> {
  const { parseHTML } = await loadLinkedom(where);
  const hasRoot = /<html[\s>]/i.test(html.slice(0, 10_000));
  // its types need the library "dom"
  const window: object = parseHTML(hasRoot ? html : `<html><body>${html}</body></html>`);
  return (window as { readonly document: Page }).document;
}

function rootOf({ body, documentElement }: Page): HtmlNode {
  return body ?? documentElement;
}

async function loadLinkedom(where: string): Promise<typeof LinkedomPackage> {
  try {
    // bundlers treat an import in a try block as optional
    return await import('linkedom');
  } catch (cause) {
    throw missingPackage(where, 'linkedom@^0.18', cause);
  }
}

async function loadReadability(): Promise<typeof ReadabilityPackage> {
  try {
    return await import('@mozilla/readability');
  } catch (cause) {
    throw missingPackage('readHtml', '@mozilla/readability@^0.6', cause);
  }
}
