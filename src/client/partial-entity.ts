import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { isPlainObject } from '../internal/options.js';
import { PartialJsonReader } from '../internal/partial-json.js';
import { Subscriber } from '../internal/rxjs.js';
import type { InferInput, InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import type { EntityReader } from './structured-output.js';

/** A value of which any part may be missing. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined }
    : T;

/** A part of what the model writes for a schema, or at the end the value that comes out of it. */
export type PartialEntity<S extends InputSchema> = DeepPartial<InferInput<S>> | InferOutput<S>;

/** Text outside the JSON that is remembered, for tags and opening fences. */
const MEMORY = 40;
const TAG = /<(\/?)(?:think|thinking|reasoning)>$/i;
const THINKING_FENCE = /```(?:think|thinking|reasoning)\s$/i;
/** Text before JSON: none, or an opening fence. */
const START = /(?:^|(?:`+|~{3})(?:[^\n`{[]*\n|[\w+-]*))\s*$/;

/** Finds the JSON of an answer while the model writes it, at the places where a whole answer has it. */
class AnswerReader {
  json: PartialJsonReader | undefined;
  private outside = '';
  /** Text that ends the current thinking. */
  private thinkingEnd: RegExp | undefined;

  read(text: string): void {
    let at = 0;
    while (at < text.length) {
      const { json } = this;
      if (json?.isOpen) {
        at = json.read(text, at);
        if (json.status === 'invalid') this.leave('?');
      } else if (this.mayStart(text.charAt(at))) {
        this.json = new PartialJsonReader();
      } else {
        this.readOutside(text.charAt(at++));
      }
    }
  }

  private mayStart(char: string): boolean {
    return (
      (char === '{' || char === '[') && !this.json && !this.thinkingEnd && START.test(this.outside)
    );
  }

  private readOutside(char: string): void {
    this.outside = (this.outside + char).slice(-MEMORY);
    if (!/[>`\s]/.test(char)) return;
    if (char === '>') {
      const tag = TAG.exec(this.outside);
      if (tag?.[1] === '/') this.leave('');
      else if (tag) this.thinkingEnd ??= TAG;
    } else if (this.thinkingEnd?.test(this.outside)) {
      this.leave('');
    } else if (THINKING_FENCE.test(this.outside)) {
      this.thinkingEnd = /```$/;
    }
  }

  /** Starts again: what was read is no answer. */
  private leave(outside: string): void {
    this.json = undefined;
    this.thinkingEnd = undefined;
    this.outside = outside;
  }
}

/** Cost of copying that each value, and each character since the last value, may cause. */
const COST_PER_VALUE = 1_024;
const COST_PER_CHARACTER = 16;

/**
 * Emits the value of an answer as it grows, and at the end the checked value. Values of large lists
 * become rarer, so that the whole takes linear time.
 */
export class PartialEntitySubscriber<S extends InputSchema> extends Subscriber<ChatEvent> {
  private answer = new AnswerReader();
  private last: unknown;
  /** Characters since the last value. */
  private characters = 0;
  private event: ResponseEvent | undefined;

  constructor(
    private readonly values: Subscriber<PartialEntity<S>>,
    private readonly reader: EntityReader<S>,
  ) {
    super(values);
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'text-delta') this.read(event.text);
    else if (event.type === 'response') this.event = event;
    else if (event.type === 'retract' || event.type === 'iteration')
      this.answer = new AnswerReader();
  }

  private read(text: string): void {
    this.answer.read(text);
    this.characters += text.length;
    const { json } = this.answer;
    if (!json?.hasChanged || json.cost > COST_PER_VALUE + COST_PER_CHARACTER * this.characters)
      return;
    this.characters = 0;
    this.emit(json.snapshot());
  }

  private emit(value: unknown): void {
    this.last = value;
    this.values.next(value as PartialEntity<S>);
  }

  protected override _complete(): void {
    const { response, run } = this.event as ResponseEvent;
    this.reader.read(response, run).then(
      (value) => {
        if (this.closed) return;
        if (!isEqual(value, this.last)) this.emit(value);
        super._complete();
      },
      (error: unknown) => super._error(error),
    );
  }
}

/** Compares JSON; another value, such as a date, is equal to itself only. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, at) => isEqual(item, b[at]));
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  if (Object.getPrototypeOf(a) !== Object.prototype) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}
