import { onAbort } from '../../core/internal/cancellation.js';
import { Silence } from '../http/silence.js';
import { answer } from './handler-answer.js';
import type { InspectorEvent } from './page-messages.js';

type Hello = Extract<InspectorEvent, { readonly type: 'hello' }>;
type Removed = Extract<InspectorEvent, { readonly type: 'removed' }>;
type Changed = Extract<InspectorEvent, { readonly type: 'turn' }>;
/** A change of the turns of an inspector. */
export type TurnsEvent = Exclude<InspectorEvent, Hello>;

/** The source of the events of a reader. */
export interface ChangeSource {
  readonly hello: () => Hello;
  readonly subscribe: (listener: (event: TurnsEvent) => void) => () => void;
}

const BYTES = new TextEncoder();

/** The events of an inspector for one reader; they end with it. */
export function changeStream(
  source: ChangeSource,
  { signal }: Request,
  heartbeat: number,
): Response {
  const changes = new Changes(source, heartbeat);
  const release = onAbort(signal, () => changes.close());
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        const frames = await changes.next();
        if (frames === undefined) controller.close();
        else controller.enqueue(BYTES.encode(frames));
      },
      cancel: () => {
        release();
        changes.close();
      },
    },
    { highWaterMark: 0 }, // nothing is read ahead
  );
  return answer(stream, 'text/event-stream; charset=utf-8', { 'x-accel-buffering': 'no' });
}

/**
 * The changes that a reader has not got: of each turn the latest alone, so that a slow reader keeps no
 * more than the turns of the inspector.
 */
class Changes {
  private readonly turns = new Map<string, Changed>();
  /** Turns that the reader has: of others it needs no removal. */
  private readonly known = new Set<string>();
  private readonly removed = new Set<string>();
  private kept: Removed['kept'] | undefined;
  private release: (() => void) | undefined;
  private isClosed = false;
  /** True if the reader has not got all changes. */
  private isDue = false;
  /** Resolves the wait of the reader, with a comment if nothing has happened. */
  private wake: ((frames: string) => void) | undefined;
  private readonly silence: Silence;

  constructor(
    private readonly source: ChangeSource,
    heartbeat: number,
  ) {
    this.silence = new Silence(heartbeat, () => this.wake?.(': \n\n'));
  }

  /** The next frames; undefined after the end. */
  async next(): Promise<string | undefined> {
    if (this.isClosed) return undefined;
    if (!this.release) return this.begin();
    const frames = this.take() || (await this.more());
    this.silence.end();
    return this.isClosed ? undefined : frames;
  }

  close(): void {
    this.isClosed = true;
    this.release?.();
    this.silence.stop();
    this.turns.clear();
    this.wake?.('');
  }

  private begin(): string {
    this.release = this.source.subscribe((event) => this.receive(event));
    const hello = this.source.hello();
    for (const { id } of hello.turns) this.known.add(id);
    this.silence.end();
    return frame(hello);
  }

  private more(): Promise<string> {
    return new Promise((resolve) => {
      this.wake = (frames) => {
        this.wake = undefined;
        this.silence.stop();
        resolve(frames);
      };
      this.silence.watch();
    });
  }

  private receive(event: TurnsEvent): void {
    if (this.isClosed) return;
    if (event.type === 'turn') this.turns.set(event.turn.id, event);
    else {
      this.kept = event.kept;
      for (const id of event.ids) {
        this.turns.delete(id);
        if (this.known.delete(id)) this.removed.add(id);
      }
    }
    // what happens at once is written together
    if (this.wake && !this.isDue) queueMicrotask(() => this.flush());
    this.isDue = true;
  }

  private flush(): void {
    if (this.isDue) this.wake?.(this.take());
  }

  private take(): string {
    const { turns, removed, kept } = this;
    let frames = '';
    if (kept) frames += frame({ type: 'removed', ids: [...removed], kept });
    for (const [id, changed] of turns) {
      this.known.add(id);
      frames += frame(changed);
    }
    this.kept = undefined;
    this.isDue = false;
    removed.clear();
    turns.clear();
    return frames;
  }
}

function frame(event: InspectorEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
