import { orderOf } from '../../core/advisor/advisor-place.js';
import { AdvisorOrder, type AdvisorChain } from '../../core/advisor/advisor.js';
import type { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatClient } from '../../core/client/chat-client.js';
import { advisorsOf } from '../../core/client/request-settings.js';
import { CancelledError } from '../../core/errors/errors.js';
import { notify } from '../../core/internal/notify.js';
import { BOOLEAN, FUNCTION, integer } from '../../core/internal/options.js';
import { Observable, type Subscriber } from '../../core/internal/rxjs.js';
import { orderAdvisors } from '../../core/advisor/advisor-chain.js';
import { TURN_OBSERVATION } from '../../core/observation/ask-model.js';
import { both } from '../../core/observation/both.js';
import { describeChain } from './chain-description.js';
import type {
  AdvisorState,
  ExportedTurns,
  InspectedChain,
  InspectedTurn,
  TurnSummary,
} from './inspected-turn.js';
import type { KeptTurns } from './page-messages.js';
import {
  PAGE_START,
  type InspectedSource,
  type LiveTurn,
  type TurnsEvent,
} from './inspected-source.js';
import type { InspectorOptions } from './inspector-options.js';
import { KeptList } from './kept-list.js';
import { RecordedPart } from './recorded-part.js';
import { isProduction } from './production.js';
import { Redactor } from './redactor.js';
import { TurnEvents } from './turn-events.js';

const RULES = {
  maxTurns: integer(1),
  maxBytes: integer(1),
  maxEntries: integer(1),
  redact: FUNCTION,
  allowInProduction: BOOLEAN,
};

/**
 * Records turns, to see them: which advisor changed the request and how, what the model got, how long
 * each part took. Records nothing in production, unless that is allowed. Nothing is written to disk.
 */
export class Inspector implements InspectedSource {
  readonly name = 'inspector';
  readonly order: number;
  private readonly list: KeptList;
  private readonly redactor: Redactor;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: InspectorOptions = {}) {
    this.order = orderOf('Inspector', options, RULES, AdvisorOrder.TURN - 400);
    this.redactor = new Redactor(options.redact);
    const { maxTurns = 500, maxBytes = 50_000_000 } = options;
    this.list = new KeptList({ maxTurns, maxBytes }, this.redactor);
  }

  /** False in production, unless it is allowed there. */
  get isRecording(): boolean {
    return this.options.allowInProduction === true || !isProduction();
  }

  /** Turns and bytes that are kept, with their bounds. */
  kept(): KeptTurns {
    return this.list.memory;
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    if (!this.isRecording) return chain.next(request);
    return new Observable((subscriber) => {
      if (!subscriber.closed) this.record(request, chain, subscriber);
    });
  }

  /** All turns, the oldest first. */
  turns(): readonly TurnSummary[] {
    return this.list.summaries();
  }

  /** A turn as a whole; undefined if it is not kept. */
  turn(id: string): InspectedTurn | undefined {
    return this.list.turn(id);
  }

  /** The chain of a client. */
  chainOf(client: ChatClient): InspectedChain {
    const { settings } = client.prompt();
    const advisors = orderAdvisors(advisorsOf(settings)).filter((each) => each !== this);
    const { tools, options, model } = settings;
    return describeChain({ advisors, tools, options, model }, this.redactor);
  }

  /** The current states of the advisors of a turn. */
  async states(id: string): Promise<readonly AdvisorState[]> {
    return this.list.states(id);
  }

  /**
   * Turns as data for a file; ids of turns that are not kept are left out.
   * @param ids @default all
   */
  async export(ids: readonly string[] = this.turns().map(({ id }) => id)): Promise<ExportedTurns> {
    const turns = ids.flatMap((id) => this.turn(id) ?? []);
    const states = await Promise.all(
      turns.map(async ({ id }) => [id, await this.states(id)] as const),
    );
    return { format: 'advisor-chain/turns', version: 1, turns, states: Object.fromEntries(states) };
  }

  /**
   * Adds the turns of a file that another inspector has exported.
   * @param file its text, or its data, {@link ExportedTurns}
   * @returns their ids here
   * @throws {@link InvalidArgumentError} if it is no such file
   */
  import(file: unknown): readonly string[] {
    return this.list.import(file);
  }

  /** Removes turns that have ended. @param ids @default all */
  clear(ids?: readonly string[]): void {
    this.list.remove(ids);
  }

  /** Calls a listener with each change, at most ten times in a second for one turn, until it is released. */
  subscribe(listener: (event: TurnsEvent) => void): () => void {
    return this.list.subscribe(listener);
  }

  /** Ends a turn that runs. @returns false if there is none */
  cancel(id: string): boolean {
    const turn = this.list.recorded(id);
    if (turn?.outcome !== 'running') return false;
    turn.cancel();
    return true;
  }

  /** @internal The parts of a turn with which it is resumed or run again; undefined for one of a file. */
  live(id: string): LiveTurn | undefined {
    return this.list.recorded(id)?.live;
  }

  /** The text without secrets, as the inspector shows it. */
  redact(text: string): string {
    return this.redactor.text(text);
  }

  private record(
    request: ChatClientRequest,
    chain: AdvisorChain,
    subscriber: Subscriber<ChatEvent>,
  ): void {
    const start = request.context.get(PAGE_START);
    const turn = this.list.begin({
      source: start ? 'page' : 'application',
      request,
      advisors: chain.advisors.filter((advisor) => advisor !== this),
      maxEntries: this.options.maxEntries ?? 10_000,
    });
    if (start) notify(() => start.begun(turn.origin.id));
    const own = new RecordedPart(turn);
    const events = new TurnEvents(turn, own, subscriber);
    turn.cancel = () =>
      events.error(new CancelledError('The turn was cancelled in the inspector.'));
    const observation = request.observation ? both(request.observation, own) : own;
    TURN_OBSERVATION.set(request.run, observation);
    chain.next(request.with({ observation })).subscribe(events);
  }
}
