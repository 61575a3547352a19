import { isWire, textOrNone, type Wire } from './wire-json.js';
import { readContent } from './wire.js';

/** Puts a streamed content together that comes in parts, thinking among them (Mistral): a piece goes on with the part before it if it is of the same type. */
export class ContentParts {
  private readonly parts: Wire[] = [];

  /** The parts in their order; undefined if there is no thinking among them, for then the text says all. */
  get withThinking(): readonly Wire[] | undefined {
    return this.parts.some((part) => part['type'] === 'thinking') ? this.parts : undefined;
  }

  /** @param before the text that came before the first part */
  add(pieces: unknown, before: string): void {
    if (!Array.isArray(pieces)) return;
    if (this.parts.length === 0 && before !== '') this.parts.push({ type: 'text', text: before });
    for (const piece of pieces) if (isWire(piece)) this.addPiece(piece);
  }

  /** Text that comes as such, between or after parts. */
  addText(text: string): void {
    if (this.parts.length > 0) this.addPiece({ type: 'text', text });
  }

  private addPiece(piece: Wire): void {
    const last = this.parts.at(-1);
    if (last && last['type'] === piece['type'] && last['signature'] === undefined) this.parts[this.parts.length - 1] = merge(last, piece);
    else this.parts.push(piece);
  }
}

function merge(part: Wire, piece: Wire): Wire {
  if (part['type'] !== 'thinking') return { ...part, ...piece, text: (textOrNone(part['text']) ?? '') + (textOrNone(piece['text']) ?? '') };
  const thought = thoughtOf(part) + thoughtOf(piece);
  return { ...part, ...piece, thinking: typeof part['thinking'] === 'string' ? thought : [{ type: 'text', text: thought }] };
}

function thoughtOf({ thinking }: Wire): string {
  return typeof thinking === 'string' ? thinking : readContent(thinking).text;
}
