import { verifyEvents, type BaseEvent } from '@ag-ui/client';
import { from, tap } from 'rxjs';
import { InMemoryTurnLog, TurnStreams } from '../../../src/bridges/turn-log/index.js';
import { toUIMessageStream, visibleParts } from '../../../src/bridges/ui/index.js';
import type { ChatEvent, PromptSpec } from '../../../src/index.js';
import { foldUIMessage, type UIMessage } from '../ai-sdk.js';
import { standing } from '../standing-events.js';
import { FORMATS, framesOf } from '../turn-events.js';

const KEY = 'conversation';

/** Streams of a conversation through a log: one process runs the turns, another one reads them, too. */
export class LoggedStreams {
  /** Problems of what readers have got. */
  readonly problems: string[] = [];
  private readonly here: TurnStreams;
  private readonly there: TurnStreams;
  /** The messages of turns that rest, by their numbers, as pages have them. */
  private readonly messages = new Map<number, UIMessage>();

  /** @param format name of the format in which logged events are compared with live ones */
  constructor(private readonly format: string) {
    const log = new InMemoryTurnLog();
    const newStreams = (): TurnStreams =>
      new TurnStreams({ log, writeInterval: 0, onError: () => undefined }); // models fail here
    [this.here, this.there] = [newStreams(), newStreams()];
  }

  /** Cancels the turn that runs. */
  stop(): void {
    void this.here.stop(KEY);
  }

  /**
   * Runs a turn to its end or a pause, and reads it.
   * @param turn its number
   * @param next returns true to leave it, which ends the reader alone
   */
  async run(
    turn: number,
    spec: PromptSpec,
    next: (event: ChatEvent) => boolean,
  ): Promise<readonly ChatEvent[]> {
    const live: ChatEvent[] = [];
    const events = spec
      .stream()
      .events()
      .pipe(tap((event) => void live.push(event)));
    const started = await this.here.start(KEY, events);
    let failure: { readonly error: unknown } | undefined;
    const seen: ChatEvent[] = [];
    try {
      for await (const event of started) {
        seen.push(event);
        if (next(event)) break;
      }
    } catch (error) {
      failure = { error };
    }
    await started.ended;
    const all = await this.again(failure !== undefined);
    if (!isBeginning(seen, all)) this.problems.push('a second reader gets other events');
    if (failure) throw failure.error;
    this.compare(live, all);
    await this.fold(turn, all);
    return all;
  }

  private async again(fails: boolean): Promise<readonly ChatEvent[]> {
    const events: ChatEvent[] = [];
    try {
      for await (const event of (await this.there.resume(KEY)) ?? []) events.push(event);
    } catch (error) {
      if (!fails) this.problems.push(`a second reader fails: ${String(error)}`);
    }
    return events;
  }

  /** Compares the frames of logged and of live events. */
  private compare(live: readonly ChatEvent[], logged: readonly ChatEvent[]): void {
    const { format: name } = this;
    const format = FORMATS[name] as (typeof FORMATS)[string];
    const frames = framesOf(format, logged).join('');
    if (frames !== framesOf(format, live).join(''))
      this.problems.push(`logged events have other frames in the format ${name}`);
    if (name.startsWith('ag-ui')) this.verify(frames);
  }

  private verify(frames: string): void {
    const events = frames.split('\n\n').filter((frame) => frame.startsWith('data: '));
    const parsed = events.map((frame) => JSON.parse(frame.slice('data: '.length)) as BaseEvent);
    // it is of another copy of RxJS
    verifyEvents(false)(from(parsed) as never).subscribe({
      error: (error: unknown) =>
        this.problems.push(`the client of AG-UI refuses the events: ${String(error)}`),
    });
  }

  /** Folds a turn to the message of a page, which has its answer at its end. */
  private async fold(turn: number, events: readonly ChatEvent[]): Promise<void> {
    const last = events.at(-1);
    if (last?.type !== 'response') return;
    const { response } = last;
    const text = response.text ?? '';
    const earlier = this.messages.get(turn);
    try {
      const options = earlier ? { isContinuation: true } : {};
      const { message } = await foldUIMessage(toUIMessageStream(from(events), options), earlier);
      const [before, shown] = [earlier ? shownBy(earlier) : '', shownBy(message)];
      const fresh = standing(events.filter((event) => !('isReplayed' in event))).texts.join('');
      if (shown !== before + fresh)
        this.problems.push(`a page shows ${shown}, not ${before + fresh}`);
      this.messages.set(turn, message);
    } catch (error) {
      this.problems.push(`the reader of the AI SDK refuses the chunks: ${String(error)}`);
    }
    const stands = standing(events).texts.at(-1) ?? '';
    if (!response.paused && stands !== text)
      this.problems.push(`the deltas are ${stands}, not ${text}`);
  }
}

function shownBy({ parts }: UIMessage): string {
  return visibleParts(parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

function isBeginning(seen: readonly ChatEvent[], all: readonly ChatEvent[]): boolean {
  return JSON.stringify(seen) === JSON.stringify(all.slice(0, seen.length));
}
