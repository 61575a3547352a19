import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type Next,
} from '../src/advisor/advisor.js';
import type { ChatClientRequest } from '../src/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../src/advisor/chat-client-response.js';
import type { ChatEvent, ToolResult } from '../src/chat/chat-event.js';
import { RunRecord } from '../src/chat/run-record.js';
import { RunSlot } from '../src/chat/run-slot.js';
import {
  checkOption,
  checkOptions,
  FINITE,
  TEXT,
  withMethods,
  orFunction,
} from '../src/internal/options.js';
import { Observable } from '../src/internal/rxjs.js';
import { SteeredIteration } from '../src/steering/steered-iteration.js';
import { runSteered } from '../src/steering/steered-tool-call.js';
import { SteeredTurn } from '../src/steering/steered-turn.js';
import type { SteeringInbox } from '../src/steering/steering-inbox.js';
import { CallContext } from '../src/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../src/tool/tool.js';

/** Options of a {@link SteeringAdvisor}. */
export interface SteeringAdvisorOptions {
  /**
   * The inbox of the turn, or a function that finds it by the request, such as by its conversation;
   * undefined for a turn that takes no messages.
   */
  readonly inbox: SteeringInbox | ((request: ChatClientRequest) => SteeringInbox | undefined);
  /** @default 'steering' */
  readonly name?: string | undefined;
  /** Position, right of the tool loop. @default AdvisorOrder.STEERING */
  readonly order?: number | undefined;
}

const INBOX = withMethods('a SteeringInbox', 'send', 'takeDeferred');
const RULES = { name: TEXT, order: FINITE };

/** Brings messages of the user into a turn that runs, between its iterations or at once. */
export class SteeringAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['steers'] as const;
  readonly parts: readonly Advisor[];
  private readonly turns = new RunSlot<SteeredTurn>();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: SteeringAdvisorOptions) {
    checkOption('SteeringAdvisor', 'inbox', options?.inbox, orFunction(INBOX));
    checkOptions('SteeringAdvisor', options, RULES);
    this.name = options.name ?? 'steering';
    this.order = options.order ?? AdvisorOrder.STEERING;
    const around: Advisor['around'] = (request, next) => this.runTurn(request, next);
    // left of the memory: a message is deferred when the turn is stored, not before
    this.parts = [{ name: `${this.name}.turn`, order: AdvisorOrder.LOCK + 100, around }];
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const turn = this.turns.get(request.run);
      if (turn) new SteeredIteration(turn, request, chain, subscriber).start();
      else chain.next(request).subscribe(subscriber);
    });
  }

  /** @throws {@link CancelledError}, the error of the tool */
  async adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    const run = RunRecord.owning(CallContext.cancellationOf(call.context));
    const turn = run && this.turns.get(run);
    return turn ? runSteered(call, next, turn) : next(call);
  }

  private async runTurn(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const turn = this.beginTurn(request);
    if (!turn) return next(request);
    let hasAnswered = false;
    try {
      const response = await next(request);
      hasAnswered = true;
      return response;
    } finally {
      turn.end(hasAnswered);
    }
  }

  private beginTurn(request: ChatClientRequest): SteeredTurn | undefined {
    const { inbox: given } = this.options;
    const { run } = request;
    const inbox = typeof given === 'function' ? given(request) : given;
    if (!inbox) return undefined;
    checkOption(`advisor "${this.name}"`, 'the inbox', inbox, INBOX);
    // messages belong to the outer turn, which the user sees
    if (this.turns.ofOuter(run)?.inbox === inbox) return undefined;
    const turn = this.turns.get(run) ?? this.turns.set(run, new SteeredTurn(inbox));
    turn.begin();
    return turn;
  }
}
