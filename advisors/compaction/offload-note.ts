import { randomId } from '../../src/core/chat/context.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { middleOf } from './cut-text.js';

const ADVICE = ' to search or read them. Do not repeat the call that made this result.';
const ID_LENGTH = 20;
/** For the 16 hexadecimal digits: with digits an id could look like an account number to a guard. */
const LETTERS = 'bcdfghjklmnpqrst';
const ID = new RegExp(`[${LETTERS}]{${ID_LENGTH}}`);

/** The text in the middle of an offloaded result, which names its id. */
export class OffloadNote {
  /** Text before each id. */
  private readonly sign: string;
  private readonly pattern: RegExp;

  /** @param toolName name of the tool that reads results */
  constructor(toolName: string) {
    this.sign = `call ${toolName} with the id "`;
    this.pattern = new RegExp(
      `\\[Characters \\d+ to \\d+ of \\d+ are left out here, and kept: ${this.sign}${ID.source}"${ADVICE}\\]`,
    );
  }

  /** The beginning and the end of a text, with a note between them. */
  shorten(text: string, id: string, inSight: number): string {
    const { start, end } = middleOf(text, inSight);
    const note =
      `[Characters ${start} to ${end} of ${text.length} are left out here, and kept: ` +
      `${this.sign}${id}"${ADVICE}]`;
    return `${text.slice(0, start).trimEnd()}\n${note}\n${text.slice(end)}`;
  }

  /** True if a text has a note, or a part of one. */
  isNamedIn(text: string): boolean {
    return text.includes(this.sign);
  }

  /** The whole note in a text; similar texts do not count. */
  of(text: string): string | undefined {
    return this.pattern.exec(text)?.[0];
  }
}

/**
 * An id of 80 bits.
 * @param source equal ones have the same id @default random
 */
export function newId(source?: string): string {
  const digits = (source === undefined ? randomId() : sha256Hex(source)).slice(0, ID_LENGTH);
  return digits.replaceAll(/./g, (digit) => LETTERS.charAt(Number.parseInt(digit, 16)));
}

/** The id in a text of a model, which may have quotes or words around it. */
export function idIn(text: string): string | undefined {
  return ID.exec(text)?.[0];
}
