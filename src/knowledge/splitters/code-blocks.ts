import { linesOf, openScope, scopeAbove, STRENGTH, type Block, type Scope } from './block.js';

const TAB = 4;
/** A line that ends what lines above have begun. */
const CLOSING = /^(?:[)\]}]|end\b|<\/|else\b|elif\b|catch\b|except\b|finally\b)/;

/**
 * Blocks of source code, by blank lines and indentation, so of any language: a cut before a line that
 * is less indented and follows a blank one is the best.
 */
export function codeBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let scope: Scope | undefined;
  let isAfterBlank = false;
  let before = 0;
  for (const { start, end, text: line } of linesOf(text)) {
    const code = line.trim();
    const last = blocks.at(-1);
    const indent = code === '' ? Infinity : indentOf(line);
    const begins = isAfterBlank || indent <= before;
    if (last && (code === '' || CLOSING.test(code) || !begins)) last.end = end;
    else {
      const strength = strengthOf(indent, isAfterBlank);
      const around = scopeAbove(scope, indent);
      blocks.push({ start, end, strength, scope: around, content: 'rows' });
    }
    isAfterBlank = code === '';
    if (isAfterBlank) continue;
    before = indent;
    if (!CLOSING.test(code)) scope = openScope(scope, indent, code);
  }
  return blocks;
}

function strengthOf(indent: number, isAfterBlank: boolean): number {
  return isAfterBlank
    ? STRENGTH.section - 1 - Math.min(indent, 18)
    : STRENGTH.line + 9 - Math.min(indent, 8);
}

function indentOf(line: string): number {
  let columns = 0;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (character === '\t') columns += TAB;
    else if (character === ' ') columns++;
    else break;
  }
  return columns;
}
