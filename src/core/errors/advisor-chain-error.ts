const BRAND = Symbol.for('advisor-chain.error');

/** Base of all errors of this package. Distinguish them by {@link code}, which never changes. */
export abstract class AdvisorChainError extends Error {
  abstract readonly code: string;
  readonly [BRAND] = true;

  /** @param options `cause` is the error that led to this one */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // for subclasses of applications; our own set it, since minified bundles rename classes
    this.name = new.target.name;
  }

  /**
   * Name, code, message, the fields that are data, and name, code and message of the cause, for
   * `JSON.stringify`; without stack and `run`.
   */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message } = this;
    if (writing.has(this)) return { name, code, message }; // a field of its own
    writing.add(this);
    try {
      const cause = reasonOf(this.cause);
      const fields = Object.entries(this).filter(
        ([key, value]) => !LEFT_OUT.has(key) && isWritable(value),
      );
      return { name, code, message, ...Object.fromEntries(fields), ...(cause && { cause }) };
    } finally {
      writing.delete(this);
    }
  }

  /** True for errors of this package, also of a second copy of it. */
  static isInstance(value: unknown): value is AdvisorChainError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** The errors that are being written, for cycles. */
const writing = new WeakSet<object>();
const LEFT_OUT: ReadonlySet<string> = new Set(['name', 'code', 'message', 'stack', 'cause', 'run']);

function isWritable(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false; // a cycle, or a big integer of a subclass
  }
}

function reasonOf(cause: unknown): object | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { name, message, code } = cause as Error & { readonly code?: unknown };
  return { name, message, ...(typeof code === 'string' && { code }) };
}

/** True for an error with one of these codes, also of a second copy of the package. */
export function hasCode(error: unknown, ...codes: readonly string[]): error is AdvisorChainError {
  try {
    return AdvisorChainError.isInstance(error) && codes.includes(error.code);
  } catch {
    return false; // a getter or a proxy threw
  }
}
