import { isPlainObject, nonEmptyString, type JsonObject } from '../../../core/internal/options.js';
import { listOf } from '../../../core/json-schema/json-pointer.js';
import { argumentsOf } from '../../http/fields.js';

/** Kinds of text of an item that arrive in pieces. */
export type PieceKind = 'text' | 'refusal' | 'summary' | 'content' | 'arguments';

/** The texts of an item by kind, part by part. */
export type ItemTexts = Readonly<Partial<Record<PieceKind, readonly string[]>>>;

/** The texts of a complete item. */
export function textsOf(item: JsonObject): ItemTexts {
  switch (item['type']) {
    case 'message': {
      const parts = contentParts(item);
      return { text: stringsOf(parts, 'text'), refusal: stringsOf(parts, 'refusal') };
    }
    case 'reasoning':
      return {
        summary: stringsOf(partsOf(item['summary']), 'text'),
        content: stringsOf(contentParts(item), 'text'),
      };
    case 'function_call':
      return { arguments: [argumentsOf(item['arguments'])] };
    default:
      return {};
  }
}

/** Text, refusal, citations and log probabilities of a message item. */
export function readMessage(item: JsonObject): {
  readonly text: string;
  readonly refusal: string;
  readonly annotations: readonly unknown[];
  readonly logprobs: readonly unknown[];
} {
  const { text = [], refusal = [] } = textsOf(item);
  const parts = contentParts(item);
  return {
    text: text.join(''),
    refusal: refusal.join(''),
    annotations: parts.flatMap((part) => listOf(part['annotations'])),
    logprobs: parts.flatMap((part) => listOf(part['logprobs'])),
  };
}

function contentParts({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === 'string' ? [{ text: content }] : partsOf(content);
}

/** The parts of a content that is a list. */
export function partsOf(list: unknown): readonly JsonObject[] {
  return listOf(list).filter(isPlainObject);
}

function stringsOf(parts: readonly JsonObject[], field: string): readonly string[] {
  return parts.map((part) => nonEmptyString(part[field]) ?? '');
}

/** An item of an answer whose pieces arrive. */
export class OutputItem {
  /** True once the item has arrived as a whole. */
  isClosed = false;
  /** True once id and name of a call are known. */
  isAnnounced = false;
  private readonly received = new Map<PieceKind, string>();
  private readonly parts = new Map<string, string>();

  /**
   * @param number position in the order of arrival
   * @param item the fields known so far, its type among them
   */
  constructor(
    readonly number: number,
    public item: JsonObject,
  ) {}

  get type(): unknown {
    return this.item['type'];
  }

  /** Adds a piece of a part. */
  add(kind: PieceKind, part: unknown, text: string): void {
    this.received.set(kind, (this.received.get(kind) ?? '') + text);
    const key = `${kind} ${String(part)}`;
    this.parts.set(key, (this.parts.get(key) ?? '') + text);
  }

  /** The rest of a complete part after its pieces; empty if it contradicts them. */
  restOfPart(kind: PieceKind, part: unknown, whole: string): string {
    return restOf(whole, this.parts.get(`${kind} ${String(part)}`) ?? '');
  }

  /** The rest of each part of the complete item; some servers number parts differently there. */
  restOfItem(kind: PieceKind, parts: readonly string[]): readonly string[] {
    const received = this.received.get(kind) ?? '';
    if (received === '') return parts;
    if (!startsWith(parts.join(''), received)) return [];
    let left = received.length;
    return parts.map((part) => {
      const rest = part.slice(left);
      left = Math.max(left - part.length, 0);
      return rest;
    });
  }

  /** The item as it would have arrived; for servers that send pieces alone. */
  assembled(): JsonObject {
    if (this.isClosed) return this.item;
    const list = (kind: PieceKind, type: string, field = 'text'): readonly JsonObject[] => {
      const text = this.received.get(kind);
      return text === undefined ? [] : [{ type, [field]: text }];
    };
    if (this.type === 'message') {
      const content = [
        ...list('text', 'output_text').map((part) => ({ ...part, annotations: [] })),
        ...list('refusal', 'refusal', 'refusal'),
      ];
      return { ...this.item, role: 'assistant', content };
    }
    if (this.type !== 'reasoning') return this.item;
    const summary = list('summary', 'summary_text');
    return { ...this.item, summary, content: list('content', 'reasoning_text') };
  }
}

function restOf(whole: string, received: string): string {
  return startsWith(whole, received) ? whole.slice(received.length) : '';
}

/** Without a look at longer pieces: comparing makes one text of them each time. */
function startsWith(whole: string, received: string): boolean {
  return received.length <= whole.length && whole.startsWith(received);
}
