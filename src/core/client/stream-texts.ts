import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { checkOptions, oneOf, orFunction, rule } from '../internal/options.js';
import { Subscriber } from '../internal/rxjs.js';
import { answered } from './resume.js';
import { advisorsOf, type RequestSettings } from './request-settings.js';

/** Options of `content()`, `for await` and `toReadableStream()`, which make one text of a turn. */
export interface StreamOptions {
  /** Text between the texts of two iterations. @default '\n\n', a blank line */
  readonly separator?: string | undefined;
  /**
   * Handling of a retraction, as by a retry: what was written cannot be taken back.
   *
   * - `continue`: writes nothing while the new text is the same, then continues with the rest;
   *   where it differs, a line break and the new text from the beginning of that word. A new text
   *   that is only a shorter piece of the old one writes nothing.
   * - `hold`: writes the text of an iteration when it can no longer be retracted: at its end, or at
   *   the end of the turn if an advisor left of the tool loop may start the turn again.
   * - a function: writes the text that it returns, if any, then the new text from its beginning.
   *
   * @default 'continue'
   */
  readonly onRetract?:
    'continue' | 'hold' | ((retracted: RetractedText) => string | undefined | void) | undefined;
}

/** Text that was written and is void. */
export interface RetractedText {
  /** The iteration whose text is void, with the text of all later ones. */
  readonly iteration: number;
  readonly text: string;
}

const RULES = {
  separator: rule('a string', (value) => typeof value === 'string'),
  onRetract: orFunction(oneOf('continue', 'hold')),
};

/** @throws {@link InvalidArgumentError} if an option is invalid */
export function checkStreamOptions(options: StreamOptions): StreamOptions {
  checkOptions('stream(…)', options, RULES);
  return options;
}

/** The run whose texts are emitted. */
export interface TextSource {
  /** The text of the current iteration, until after its `iteration` or `retract` event. */
  readonly partialText: string;
}

/** Emits the texts of the iterations of a turn as one text. */
export class TextSubscriber extends Subscriber<ChatEvent> {
  /**
   * The text of the turn without what was retracted; while it is compared, the old text. While
   * deltas flow, it is not kept: the run adds them up, too.
   */
  private text = '';
  /** Length of the text before the run's current iteration. */
  private base = 0;
  /** Offset at which the text of each iteration begins. */
  private starts: (number | undefined)[] = [];
  private iteration = 0;
  /** While retracted text is compared: length of the part that the new text has, too. */
  private matched: number | undefined;
  /** True if deltas are passed on at once: neither first, nor compared, nor held. */
  private flows = false;
  private readonly separator: string;
  private readonly onRetract: NonNullable<StreamOptions['onRetract']>;
  private readonly holds: boolean;
  /** Length of the text that is not held any more. */
  private released = 0;

  constructor(
    private readonly subscriber: Subscriber<string>,
    private readonly source: TextSource,
    { separator = '\n\n', onRetract = 'continue' }: StreamOptions = {},
    /** Of the run; only `hold` needs them. */
    private readonly settings?: RequestSettings,
  ) {
    super(subscriber);
    this.separator = separator;
    this.onRetract = onRetract;
    this.holds = onRetract === 'hold';
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'text-delta') {
      if (!event.text) return;
      if (this.flows) this.subscriber.next(event.text);
      else this.append(event.text);
    } else if (event.type === 'iteration') {
      this.startIteration(event.index + 1);
    } else if (event.type === 'retract') {
      this.retract(event.iteration);
    } else if (event.type === 'response') {
      this.finish(event.response);
    }
  }

  private finish(response: ChatResponse): void {
    this.release();
    try {
      answered(response);
    } catch (error) {
      this.error(error);
    }
  }

  private write(text: string): void {
    if (!this.holds) this.subscriber.next(text);
  }

  /** Brings the text up to date. */
  private stopFlow(): void {
    if (this.flows) this.text = this.text.slice(0, this.base) + this.source.partialText;
    this.flows = false;
  }

  private release(): void {
    if (this.holds && this.text.length > this.released)
      this.subscriber.next(this.text.slice(this.released));
    this.released = this.text.length;
  }

  private startIteration(index: number): void {
    this.stopFlow();
    if (this.holds && !mayRepeatTurn(this.settings)) this.release();
    this.iteration = index;
  }

  private append(delta: string): void {
    const length = this.matched ?? this.text.length;
    const isFirst = this.starts[this.iteration] === undefined;
    const separator = isFirst && length > 0 ? this.separator : '';
    if (isFirst) this.starts[this.iteration] = this.base = length + separator.length;
    if (this.matched !== undefined) return this.compare(separator + delta, this.matched);
    this.flows = !this.holds;
    this.text += separator + delta;
    return this.write(separator + delta);
  }

  private retract(iteration: number): void {
    this.stopFlow();
    const start = this.starts.slice(iteration).find((each) => each !== undefined);
    this.iteration = iteration;
    this.base = start ?? this.text.length;
    if (start === undefined) return;
    this.starts = [...this.starts.slice(0, iteration), start];
    if (this.onRetract === 'continue') this.matched = start;
    else this.cut(Math.max(start, this.released));
  }

  private cut(start: number): void {
    const { iteration, onRetract, text } = this;
    this.text = text.slice(0, start);
    if (typeof onRetract !== 'function') return;
    try {
      const note = onRetract({ iteration, text: text.slice(start) });
      if (note) this.write(note);
    } catch (error) {
      this.error(error);
    }
  }

  /** Writes what a delta has more than, or different from, the text that was retracted. */
  private compare(delta: string, matched: number): void {
    const { text: old } = this;
    let same = 0;
    while (same < delta.length && delta[same] === old[matched + same]) same++;
    this.matched = matched + same;
    if (this.matched < old.length && same === delta.length) return;
    const end = this.matched;
    this.text = old.slice(0, end) + delta.slice(same);
    this.matched = undefined;
    this.flows = true;
    if (end < old.length) this.writeFromWord(end, old.endsWith('\n'));
    else if (same < delta.length) this.write(delta.slice(same));
  }

  private writeFromWord(end: number, afterBreak: boolean): void {
    const { text, starts, iteration } = this;
    let start = end;
    while (start > (starts[iteration] ?? 0) && /\S/.test(text[start - 1] as string)) start--;
    const changed = text.slice(start);
    this.write(afterBreak || changed.startsWith('\n') ? changed : `\n${changed}`);
  }
}

/** True if an advisor left of the tool loop may call it again, after an error or for a guard. */
function mayRepeatTurn(settings: RequestSettings | undefined): boolean {
  if (!settings) return true;
  const advisors = advisorsOf(settings);
  const loop = advisors.find(({ role }) => role === 'tool-loop');
  return advisors.some(
    (advisor) =>
      advisor.role === undefined &&
      advisor.order <= (loop?.order ?? Infinity) &&
      (advisor.advise !== undefined || advisor.around !== undefined),
  );
}
