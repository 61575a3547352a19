import { InvalidArgumentError } from '../errors.js';

/**
 * A typed name for a value in an {@link AdvisorContext}.
 *
 * The name is the identity (so that it works across two copies of a package): begin it with the name of your package.
 */
export class ContextKey<T> {
  readonly defaultValue: T;

  constructor(
    readonly name: string,
    ...defaultValue: undefined extends T ? [value?: T] : [value: T]
  ) {
    if (typeof name !== 'string' || name.trim() === '') throw new InvalidArgumentError('ContextKey: the name must be a non-blank string');
    this.defaultValue = defaultValue[0] as T;
  }
}

/** The conversation that a request belongs to; chat memory and tool search read it. */
export const CONVERSATION_ID = new ContextKey<string | undefined>('chat_memory_conversation_id');

/** Immutable values that travel with a request through the chain and back with its response. */
export class AdvisorContext {
  static readonly empty = new AdvisorContext(new Map());

  private constructor(private readonly values: ReadonlyMap<string, unknown>) {}

  /** The value of a key, or the key's default. */
  get<T>(key: ContextKey<T>): T {
    return this.values.has(key.name) ? (this.values.get(key.name) as T) : key.defaultValue;
  }

  /** Whether a value was set. */
  has(key: ContextKey<unknown>): boolean {
    return this.values.has(key.name);
  }

  /** A copy with one more value. */
  with<T>(key: ContextKey<T>, value: T): AdvisorContext {
    if (typeof key?.name !== 'string') throw new InvalidArgumentError('AdvisorContext.with: the key must be a ContextKey');
    return new AdvisorContext(new Map(this.values).set(key.name, value));
  }

  /** A copy with all values of another context, which win over the values here. */
  merge(other: AdvisorContext): AdvisorContext {
    if (other === this || other.values.size === 0) return this;
    if (this.values.size === 0) return other;
    return new AdvisorContext(new Map([...this.values, ...other.values]));
  }

  /** The values that are not those of an earlier context. */
  changesSince(earlier: AdvisorContext): AdvisorContext {
    if (earlier === this) return AdvisorContext.empty;
    const changed = [...this.values].filter(([name, value]) => !earlier.values.has(name) || earlier.values.get(name) !== value);
    return new AdvisorContext(new Map(changed));
  }

  /** The values that were set, by name. */
  entries(): IterableIterator<[string, unknown]> {
    return this.values.entries();
  }
}
