import { TimeSlice } from '../../core/internal/time-slice.js';

/** Elements without text of the document. */
const REMOVED =
  /^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|IFRAME|OBJECT|SVG|IMG|HEAD|BUTTON|SELECT|INPUT|TEXTAREA)$/;
const BLOCK =
  /^(?:P|DIV|SECTION|ARTICLE|MAIN|HEADER|FOOTER|NAV|ASIDE|FIGURE|FIGCAPTION|DL|DT|DD|FORM|ADDRESS|DETAILS|SUMMARY|BODY|HTML)$/;
const MARKS: Readonly<Record<string, string>> = { B: '**', STRONG: '**', I: '_', EM: '_' };
const ELEMENT = 1;
const TEXT = 3;

/** The part of a DOM node that is read. */
export interface HtmlNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly childNodes: Iterable<HtmlNode>;
  readonly textContent: string | null;
  getAttribute?(name: string): string | null;
}

/**
 * Writes Markdown of HTML: headings, paragraphs, lists, quotes, code, links, and tables with a row in a
 * line. Divides its work, so that the process answers others meanwhile.
 */
export class MarkdownWriter {
  private readonly slice = new TimeSlice();
  private readonly address: (link: string) => string | undefined;

  /** @param url address of the document, to which links are relative */
  constructor(url?: string) {
    this.address = (link) => (URL.canParse(link, url) ? new URL(link, url).href : undefined);
  }

  async write(node: HtmlNode): Promise<string> {
    const text = await this.children(node);
    return text
      .replaceAll(/[ \t]+\n/g, '\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
  }

  private async children(node: HtmlNode): Promise<string> {
    let text = '';
    for (const child of node.childNodes) {
      await this.slice.next();
      if (child.nodeType === TEXT) text += inline(child.textContent ?? '', text);
      else if (child.nodeType === ELEMENT) text += await this.element(child);
    }
    return text;
  }

  private async element(node: HtmlNode): Promise<string> {
    const name = node.nodeName.toUpperCase();
    if (REMOVED.test(name)) return '';
    if (name === 'BR') return '\n';
    if (name === 'HR') return '\n\n---\n\n';
    if (name === 'PRE') return fenced(node.textContent ?? '');
    if (name === 'TABLE') return block(await this.table(node));
    if (name === 'UL' || name === 'OL') return block(await this.list(node, name === 'OL'));
    const content = await this.children(node);
    if (/^H[1-6]$/.test(name)) return block(`${'#'.repeat(Number(name[1]))} ${oneLine(content)}`);
    if (name === 'BLOCKQUOTE') return block(content.trim().replaceAll(/^/gm, '> '));
    if (BLOCK.test(name)) return block(content.trim());
    if (name === 'A') return this.link(content, node.getAttribute?.('href') ?? '');
    if (name === 'CODE' && content.trim() !== '') return `\`${oneLine(content)}\``;
    const mark = MARKS[name];
    return mark && content.trim() !== '' && !content.includes('\n')
      ? marked(content, mark)
      : content;
  }

  private link(content: string, href: string): string {
    const address = /^(?:#|$)/.test(href) ? undefined : this.address(href);
    const text = oneLine(content);
    if (text === '' || !address || !/^(?:https?|mailto):/.test(address)) return content;
    return `[${text}](${address.replaceAll(/[()\s]/g, encodeURIComponent)})`;
  }

  private async list(node: HtmlNode, isOrdered: boolean): Promise<string> {
    let text = '';
    let number = 0;
    for (const item of node.childNodes) {
      if (item.nodeType !== ELEMENT) continue;
      const bullet = isOrdered ? `${++number}. ` : '- ';
      const content = (await this.children(item)).trim().replaceAll(/\n{2,}/g, '\n');
      if (content !== '') text += `${bullet}${content.replaceAll('\n', '\n  ')}\n`;
    }
    return text;
  }

  private async table(node: HtmlNode): Promise<string> {
    const rows: string[] = [];
    for (const row of rowsOf(node)) {
      const cells: string[] = [];
      for (const cell of row.childNodes)
        if (/^T[HD]$/i.test(cell.nodeName))
          cells.push(oneLine(await this.children(cell)).replaceAll('|', '\\|'));
      if (cells.length === 0) continue;
      rows.push(`| ${cells.join(' | ')} |`);
      if (rows.length === 1) rows.push(`|${' --- |'.repeat(cells.length)}`);
    }
    return rows.join('\n');
  }
}

/** The rows of a table, also within groups of rows. */
function* rowsOf(node: HtmlNode): Generator<HtmlNode> {
  for (const child of node.childNodes)
    if (/^TR$/i.test(child.nodeName)) yield child;
    else if (/^T(?:HEAD|BODY|FOOT)$/i.test(child.nodeName)) yield* rowsOf(child);
}

/** White space as a browser shows it, behind what is before. */
function inline(text: string, before: string): string {
  const spaced = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
  return /\s$/.test(before) || before === '' ? spaced.replace(/^ /, '') : spaced;
}

function block(content: string): string {
  return content.trim() === '' ? '' : `\n\n${content.replace(/^\n+/, '')}\n\n`;
}

/** Code between fences that it does not have. */
function fenced(code: string): string {
  let fence = '```';
  while (code.includes(fence)) fence += '`';
  return block(`${fence}\n${code.replace(/\n$/, '')}\n${fence}`);
}

function marked(content: string, mark: string): string {
  const text = content.trim();
  const start = content.startsWith(' ') ? ' ' : '';
  return `${start}${mark}${text}${mark}${content.endsWith(' ') ? ' ' : ''}`;
}

function oneLine(content: string): string {
  return content.trim().replaceAll(/\s*\n\s*/g, ' ');
}
