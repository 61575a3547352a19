import type { ToolDefinition } from '../chat/tool-definition.js';

/** Names that mean something else in an object with prototype. */
const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const PLAIN = /^[\n\r\t -~]*$/;
/** Controls, format characters (zero width, direction, tags) and others that nothing shows. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Joiners and variation selectors belong to emoji and to scripts other than Latin. */
const JOINERS: readonly string[] = ['\u200c', '\u200d', '\ufe0e', '\ufe0f'];
const WHITE_SPACE = /^[\n\r\t]$/;

/** The problem of a definition that shows people other text than the model; undefined if none. */
export function hiddenText({ name, description, inputSchema }: ToolDefinition): string | undefined {
  if (RESERVED.has(name)) return `the name ${name} is reserved by JavaScript; rename the tool`;
  const texts = { name, description, 'input schema': JSON.stringify(inputSchema) };
  for (const [part, text] of Object.entries(texts)) {
    const found = invisibleIn(text, part === 'name');
    if (found !== undefined)
      return `its ${part} has the invisible character ${found}, which only the model reads; remove it if you trust the source`;
  }
  return undefined;
}

/** The code point of the first invisible character, such as "U+200B"; undefined if there is none. */
export function invisibleIn(text: string, isName = false): string | undefined {
  if (!isName && PLAIN.test(text)) return undefined;
  for (const { 0: char, index } of text.matchAll(INVISIBLE)) {
    const isShown = WHITE_SPACE.test(char) || (JOINERS.includes(char) && isJoining(text, index));
    if (isName || !isShown)
      return `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  }
  return undefined;
}

/** True after a character that is not Latin, and within the emoji of a digit. */
function isJoining(text: string, index: number): boolean {
  return text.charCodeAt(index - 1) > 0x24f || text[index + 1] === '\u20e3';
}

/** Equal for names that a reader takes for the same: `send_mail`, `Send-Mail`, `sendMail`. */
export function nameAsRead(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[_\s.-]/g, '');
}
