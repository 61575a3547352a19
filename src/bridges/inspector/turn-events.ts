import { isDelta, type ChatEvent } from '../../core/chat/chat-event.js';
import { notify } from '../../core/internal/notify.js';
import { Subscriber } from '../../core/internal/rxjs.js';
import type { RecordedPart } from './recorded-part.js';
import type { RecordedEntry, RecordedTurn } from './recorded-turn.js';

/** Records the events that pass, which are not changed. */
export class TurnEvents extends Subscriber<ChatEvent> {
  /** The model call that a record repeats: it is not observed, since no model is called. */
  private replayed: RecordedEntry | undefined;

  constructor(
    private readonly turn: RecordedTurn,
    private readonly root: RecordedPart,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    if (event.type === 'text-delta') this.turn.sawText();
    else if (event.type === 'reasoning-delta') this.turn.addReasoning(event.text);
    else if (!isDelta(event)) this.recordSafely(event);
    this.subscriber.next(event);
  }

  protected override _error(error: unknown): void {
    this.root.end({ type: 'error', error });
    this.turn.fail(error);
    super._error(error);
  }

  protected override _complete(): void {
    const { response } = this.turn;
    if (response) this.root.end({ type: 'response', response });
    this.turn.end('answered');
    super._complete();
  }

  override unsubscribe(): void {
    super.unsubscribe();
    if (this.turn.outcome !== 'running') return;
    this.root.end({ type: 'cancelled' });
    // the response is the last event, so a caller that has it may unsubscribe
    this.turn.end(this.turn.response ? 'answered' : 'cancelled');
  }

  /** Data of an application may throw. */
  private recordSafely(event: ChatEvent): void {
    notify(() => this.record(event));
  }

  private record(event: ChatEvent): void {
    const { turn } = this;
    switch (event.type) {
      case 'iteration-start':
        return this.beginIteration(event);
      case 'iteration':
        this.endReplayed();
        return turn.clearReasoning();
      case 'retract':
        turn.addEvent({ kind: 'retract', name: 'retract', iteration: event.iteration });
        return turn.clearReasoning();
      case 'custom': {
        const { name, data } = event as { readonly name: string; readonly data: unknown };
        turn.addEvent({ kind: 'event', name, detail: { data } });
        return;
      }
      case 'tool-progress': {
        const { toolName: name, data } = event;
        if (isDeltaOfAgent(data)) return;
        const parent = this.entryOfCall(event.call.id);
        turn.addEvent({
          ...(parent !== undefined && { parent }),
          kind: 'event',
          name,
          detail: { data },
        });
        return;
      }
      case 'response':
        this.endReplayed();
        turn.response = event.response;
        return turn.changed();
      default: // tool calls are observed
    }
  }

  private beginIteration({
    index,
    model,
    isReplayed,
  }: Extract<ChatEvent, { readonly type: 'iteration-start' }>): void {
    const { turn } = this;
    this.endReplayed();
    turn.sawIteration(index);
    if (!isReplayed) return;
    const name = model ?? 'model';
    this.replayed = turn.add({ kind: 'model-call', name, iteration: index, isReplayed });
  }

  private endReplayed(): void {
    const { replayed, turn } = this;
    if (!replayed) return;
    this.replayed = undefined;
    replayed.end = turn.now();
    replayed.outcome = 'ok';
  }

  /** The entry of the latest call with an id. */
  private entryOfCall(callId: string): number | undefined {
    return this.turn.entries.findLast(
      ({ kind, detail }) => kind === 'tool-call' && detail?.['callId'] === callId,
    )?.id;
  }
}

/** True for a piece of an answer of an agent, of which there are thousands. */
function isDeltaOfAgent(data: unknown): boolean {
  try {
    const { type } = (data ?? {}) as Partial<ChatEvent>;
    return type !== undefined && isDelta({ type } as ChatEvent);
  } catch {
    return false; // a getter or a proxy threw
  }
}
