import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { countSeparators } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';
import type { PartialJsonReader } from '../internal/partial-json.js';
import { Subscriber } from '../internal/rxjs.js';
import type { InferInput, InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import { readUnfinished } from './json-candidates.js';
import type { EntityReader } from './structured-output.js';

/** A value of which any part may be missing. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined }
    : T;

/** A part of what the model writes for a schema, or at the end the value that comes out of it. */
export type PartialEntity<S extends InputSchema> = DeepPartial<InferInput<S>> | InferOutput<S>;

/** Cost of copying, or of searching, that each value and each character since the last one may cause. */
const COST_PER_VALUE = 1_024;
const COST_PER_CHARACTER = 16;

/**
 * Emits the value of an answer as it grows, and at the end the checked value. Values of large lists
 * become rarer, so that the whole takes linear time.
 */
export class PartialEntitySubscriber<S extends InputSchema> extends Subscriber<ChatEvent> {
  /** Text of the current iteration. */
  private text = '';
  private separators = 0;
  private json: PartialJsonReader | undefined;
  /** Characters since the last value, or the last search for one. */
  private characters = 0;
  private last: unknown;
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
    else if (event.type === 'retract' || event.type === 'iteration') {
      this.text = '';
      this.separators = 0;
      this.json = undefined;
    }
  }

  private read(delta: string): void {
    this.text += delta;
    this.separators += countSeparators(delta);
    if (this.separators >= this.reader.maxValues) return; // the whole answer will be refused
    this.characters += delta.length;
    const open = this.json?.status === 'open' ? this.json : undefined;
    open?.read(delta);
    const cost = open?.cost ?? this.text.length;
    if (cost > COST_PER_VALUE + COST_PER_CHARACTER * this.characters) return;
    this.characters = 0;
    this.json = open ?? readUnfinished(this.text);
    const value = this.json?.snapshot();
    if (value !== undefined) this.emit(value);
  }

  private emit(value: unknown): void {
    if (isEqual(value, this.last)) return;
    this.last = value;
    this.values.next(value as PartialEntity<S>);
  }

  protected override _complete(): void {
    const { response, run } = this.event as ResponseEvent;
    this.reader.read(response, run).then(
      (value) => {
        if (this.closed) return;
        this.emit(value);
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
