import { checkOption, rule, TEXT } from '../internal/options.js';

/**
 * A typed key of a value in an {@link AdvisorContext}.
 *
 * Keys with equal names are equal, also across two copies of a package, so start the name with the
 * name of your package.
 */
export class ContextKey<T> {
  readonly defaultValue: T;

  constructor(
    readonly name: string,
    ...defaultValue: undefined extends T ? [value?: T] : [value: T]
  ) {
    checkOption('ContextKey', 'name', name, TEXT);
    this.defaultValue = defaultValue[0] as T;
  }
}

/** Accepts a key, also one of a second copy of this package. */
export const CONTEXT_KEY = rule(
  'a ContextKey, such as CONVERSATION_ID',
  (value) => typeof (value as Partial<ContextKey<unknown>> | null)?.name === 'string',
);

/** The conversation of a request, for chat memory and tool search. */
export const CONVERSATION_ID = new ContextKey<string | undefined>('chat_memory_conversation_id');

/** Immutable values that travel with a request through the chain and back with its response. */
export class AdvisorContext {
  static readonly empty = new AdvisorContext(new Map());

  private constructor(private readonly values: ReadonlyMap<string, unknown>) {}

  /** The value of a key, or the default of the key. */
  get<T>(key: ContextKey<T>): T {
    return this.values.has(key.name) ? (this.values.get(key.name) as T) : key.defaultValue;
  }

  has(key: ContextKey<unknown>): boolean {
    return this.values.has(key.name);
  }

  /** A copy with one more value. */
  with<T>(key: ContextKey<T>, value: T): AdvisorContext {
    checkOption('AdvisorContext.with', 'key', key, CONTEXT_KEY);
    return new AdvisorContext(new Map(this.values).set(key.name, value));
  }

  /** A copy with the values of another context, which override the values here. */
  merge(other: AdvisorContext): AdvisorContext {
    if (other === this || other.values.size === 0) return this;
    if (this.values.size === 0) return other;
    return new AdvisorContext(new Map([...this.values, ...other.values]));
  }

  /** The values that an earlier context does not have. */
  changesSince(earlier: AdvisorContext): AdvisorContext {
    if (earlier === this) return AdvisorContext.empty;
    const changed = [...this.values].filter(
      ([name, value]) => !earlier.values.has(name) || earlier.values.get(name) !== value,
    );
    return new AdvisorContext(new Map(changed));
  }

  /** The names alone, for `JSON.stringify`: values may be secrets, or no data. */
  toJSON(): readonly string[] {
    return [...this.values.keys()];
  }

  /** The values by name. */
  entries(): IterableIterator<[string, unknown]> {
    return this.values.entries();
  }
}

/** A run, for its slots. */
interface SlotOwner {
  slots: Map<object, object> | undefined;
  readonly parent?: SlotOwner | undefined;
}

/** A typed place for the state that an advisor has in each run; it ends with the run. */
export class RunSlot<T extends object> {
  get(run: SlotOwner): T | undefined {
    return run.slots?.get(this) as T | undefined;
  }

  set(run: SlotOwner, state: T): T {
    run.slots ??= new Map();
    run.slots.set(this, state);
    return state;
  }

  /** The state of the nearest outer run that has one. */
  ofOuter({ parent }: SlotOwner): T | undefined {
    return parent && (this.get(parent) ?? this.ofOuter(parent));
  }
}

/** The identifier of a turn: one user request until its final answer. */
export class TurnId {
  /** @param value @default 128 random bits in hexadecimal, created on first access */
  constructor(private value?: string) {}

  get id(): string {
    return (this.value ??= randomId());
  }
}

/** 32-bit words of an id. */
const WORDS = 4;
/** Random words for 256 ids: requesting a few at a time is slow. */
const random = new Uint32Array(WORDS * 256);
let used = random.length;

/** Like `randomUUID`, which is not available on pages without https. */
export function randomId(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  let id = '';
  for (const end = used + WORDS; used < end; used++)
    id += (random[used] as number).toString(16).padStart(8, '0');
  return id;
}
