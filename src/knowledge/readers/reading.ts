import type { Document, DocumentMetadata } from '../../core/chat/document.js';
import {
  AdvisorChainError,
  DocumentReadError,
  InvalidArgumentError,
  type FailedReading,
} from '../../core/errors/errors.js';
import { describe, reasonOf } from '../../core/errors/describe.js';
import {
  checkOption,
  checkOptions,
  ID,
  integer,
  PLAIN_OBJECT,
  required,
  rule,
  type OptionRules,
} from '../../core/internal/options.js';

/** Content of a file. Bytes of text are UTF-8, or UTF-16 with a byte order mark. */
export type FileContent = Uint8Array | string;

/** Options of every reader. */
export interface ReadOptions {
  /** Id of the document, such as the path of the file. */
  readonly id: string;
  /** Metadata beside what the reader finds, which it precedes. @default none */
  readonly metadata?: DocumentMetadata | undefined;
  /** Maximum size of the file, in bytes (of a string: characters) >= 1. @default 20_000_000 */
  readonly maxBytes?: number | undefined;
  /** Maximum length of the text of all documents of the file, in characters >= 1. @default 10_000_000 */
  readonly maxCharacters?: number | undefined;
}

const CONTENT = rule(
  'a string or a Uint8Array',
  (value) => typeof value === 'string' || value instanceof Uint8Array,
);
const RULES: OptionRules<ReadOptions> = {
  id: required(ID),
  metadata: PLAIN_OBJECT,
  maxBytes: integer(1),
  maxCharacters: integer(1),
};

/** One file that is read. */
export class Reading {
  readonly id: string;
  private readonly maxCharacters: number;
  private characters = 0;

  private constructor(
    private readonly format: string,
    private readonly content: FileContent,
    private readonly options: ReadOptions,
  ) {
    const { id, maxBytes = 20_000_000, maxCharacters = 10_000_000 } = options;
    this.id = id;
    this.maxCharacters = maxCharacters;
    if (content.length > maxBytes)
      throw this.tooLarge(`it has ${content.length} bytes, and maxBytes is ${maxBytes}`);
  }

  /**
   * Reads a file. Errors of packages become a {@link DocumentReadError}.
   * @param where name of the function, which begins the messages about options
   * @throws {@link InvalidArgumentError}, {@link DocumentReadError}
   */
  static async run<T, Options extends ReadOptions = ReadOptions>(
    where: string,
    content: FileContent,
    options: Options,
    read: (reading: Reading) => T | Promise<T>,
    rules: Partial<OptionRules<Options>> = {},
  ): Promise<T> {
    checkOption(where, 'content', content, CONTENT);
    checkOptions<object>(where, options, { ...RULES, ...rules });
    const format = where.replace('read', '').toLowerCase();
    const reading = new Reading(format, content, options);
    try {
      return await read(reading);
    } catch (cause) {
      throw AdvisorChainError.isInstance(cause) ? cause : reading.broken(reasonOf(cause), cause);
    }
  }

  /** A copy of the bytes, since packages may keep or move them; empty for an empty string. */
  get bytes(): Uint8Array<ArrayBuffer> {
    const { content } = this;
    return typeof content === 'string'
      ? new TextEncoder().encode(content)
      : new Uint8Array(content);
  }

  /** The content as text. @throws {@link DocumentReadError} if it is not valid */
  get text(): string {
    const { content } = this;
    if (typeof content === 'string')
      return content.startsWith('\ufeff') ? content.slice(1) : content;
    const [first, second] = content;
    const isLittle = first === 0xff && second === 0xfe;
    const encoding = isLittle
      ? 'utf-16le'
      : first === 0xfe && second === 0xff
        ? 'utf-16be'
        : 'utf-8';
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(content);
    } catch (cause) {
      const advice = 'decode it, and pass a string';
      throw this.broken(`its bytes are not valid ${encoding.toUpperCase()}; ${advice}`, cause);
    }
  }

  /** Counts text that a reader has made. @throws {@link DocumentReadError} if it is too much */
  count(characters: number): void {
    this.characters += characters;
    if (this.characters > this.maxCharacters)
      throw this.tooLarge(`its text is longer than maxCharacters, ${this.maxCharacters}`);
  }

  /** A document of the file. @param found metadata from the file; undefined and blank values are left out */
  document(
    text: string,
    found: Readonly<Record<string, DocumentMetadata[string] | undefined>> = {},
    id = this.id,
  ): Document {
    this.count(text.length);
    const entries = Object.entries(found).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    const metadata = {
      ...Object.fromEntries(entries),
      ...this.options.metadata,
    } as DocumentMetadata;
    return Object.keys(metadata).length > 0 ? { id, text, metadata } : { id, text };
  }

  broken(problem: string, cause?: unknown): DocumentReadError {
    return this.error('broken', problem, cause);
  }

  tooLarge(problem: string): DocumentReadError {
    return this.error('too-large', problem);
  }

  error(reason: FailedReading['reason'], problem: string, cause?: unknown): DocumentReadError {
    const { id, format } = this;
    const message = `The ${format} file ${describe(id)} could not be read: ${problem.replace(/\.$/, '')}.`;
    return new DocumentReadError(message, { documentId: id, format, reason, cause });
  }
}

/** The error for an optional package that is not installed. */
export function missingPackage(
  where: string,
  install: string,
  cause: unknown,
): InvalidArgumentError {
  const name = install.replace(/(?<=.)@[^@]*$/, '');
  return new InvalidArgumentError(`${where} needs the package ${name}: npm install ${install}`, {
    cause,
  });
}
