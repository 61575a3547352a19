import { textOf } from '../src/core/chat/message.js';
import { AdvisorOrder, type Advisor, type AdvisorChain } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import type { ChatEvent } from '../src/core/chat/chat-event.js';
import { isCutOff, type ChatResponse, type Generation } from '../src/core/chat/chat-response.js';
import { DelimitedText, type Delimiters, type Piece } from '../src/core/internal/delimited-text.js';
import { BOOLEAN, rule } from '../src/core/internal/options.js';
import { Observable, Subscriber } from '../src/core/internal/rxjs.js';

/** Options of a {@link ReasoningExtractor}. */
export interface ReasoningExtractorOptions extends AdvisorPlace {
  /**
   * Pairs of texts at the start and at the end of reasoning, such as `['[THINK]', '[/THINK]']`.
   * @default [['<think>', '</think>']]
   */
  readonly delimiters?: readonly (readonly [start: string, end: string])[] | undefined;
  /**
   * The chat template of the model writes the first start, so that answers begin with reasoning.
   * @default false
   */
  readonly startsInside?: boolean | undefined;
  /** Position: next to the model, so that all advisors get the answer. @default 9,000 */
  readonly order?: number | undefined;
}

const NAME = 'ReasoningExtractor';
const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const DELIMITERS = rule(
  'a list of at least one [start, end], each a non-blank string',
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText)),
);
const RULES = { delimiters: DELIMITERS, startsInside: BOOLEAN };
type NewText = () => DelimitedText;

/**
 * Moves reasoning that a model writes into its answer, between `<think>` and `</think>`, to
 * `reasoning` and to `reasoning-delta` events.
 */
export class ReasoningExtractor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['rewrites-answers'] as const;
  private readonly newText: NewText;
  /** @internal As they were given, for inspectors. */
  readonly options: ReasoningExtractorOptions;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: ReasoningExtractorOptions = {}) {
    this.options = options;
    const place = { name: 'reasoning-extractor', order: AdvisorOrder.LOGGER + 1_000 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    const { delimiters = [['<think>', '</think>']], startsInside = false } = options;
    const pairs = delimiters.map(([start, end]): Delimiters => [start, end]);
    this.newText = () => new DelimitedText(pairs, startsInside);
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) =>
      chain.next(request).subscribe(new Extraction(this.newText, subscriber)),
    );
  }
}

/** The events of one run, with the reasoning taken out of the text. */
class Extraction extends Subscriber<ChatEvent> {
  /** The text of the iteration so far. */
  private text: DelimitedText | undefined;

  constructor(
    private readonly newText: NewText,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'text-delta')
      return this.emit((this.text ??= this.newText()).push(event.text));
    const isAnswer = event.type === 'response' || event.type === 'iteration';
    if (isAnswer && this.text) this.emit(this.text.close().pieces);
    if (isAnswer || event.type === 'retract') this.text = undefined;
    this.subscriber.next(
      isAnswer ? { ...event, response: extracted(event.response, this.newText) } : event,
    );
  }

  private emit(pieces: readonly Piece[]): void {
    for (const { inside, text } of pieces)
      this.subscriber.next({ type: inside ? 'reasoning-delta' : 'text-delta', text });
  }
}

function extracted(response: ChatResponse, newText: NewText): ChatResponse {
  const generations = response.generations.map((one) => extractedGeneration(one, newText));
  const isChanged = generations.some((one, at) => one !== response.generations[at]);
  return isChanged ? response.with({ generations }) : response;
}

function extractedGeneration(generation: Generation, newText: NewText): Generation {
  const { message } = generation;
  const written = textOf(message);
  const { text, reasoning } = separated(written, newText, isCutOff(generation));
  if (text === written) return generation;
  const all = [message.reasoning, reasoning].filter(Boolean).join('\n\n');
  return {
    ...generation,
    message: { ...message, content: text || null, ...(all && { reasoning: all }) },
  };
}

/** @param cutOff true if the text ends early: otherwise a block without an end is text */
function separated(
  written: string,
  newText: NewText,
  cutOff: boolean,
): { readonly text: string; readonly reasoning: string } {
  const split = newText();
  const first = split.push(written);
  const { pieces, open } = split.close();
  if (open && !open.beginsText && !cutOff) {
    const before = written.slice(0, written.length - open.written.length);
    const { text, reasoning } = separated(before, newText, true);
    return { text: text + open.written, reasoning };
  }
  const join = (inside: boolean): string =>
    [...first, ...pieces].map((piece) => (piece.inside === inside ? piece.text : '')).join('');
  return { text: join(false), reasoning: join(true) };
}
