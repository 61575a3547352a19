import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type AdvisorNeighbours,
  type Hazards,
  type InspectedState,
  type Next,
} from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { inspectedState } from '../../src/core/advisor/inspected-state.js';
import type { ChatEvent, ToolResult } from '../../src/core/chat/chat-event.js';
import { RunSlot } from '../../src/core/chat/context.js';
import { checkOption, orFunction, required, withMethods } from '../../src/core/internal/options.js';
import { Observable } from '../../src/core/internal/rxjs.js';
import { SteeredIteration } from './steered-iteration.js';
import { runSteered } from './steered-tool-call.js';
import { SteeredTurn } from './steered-turn.js';
import type { SteeringInbox } from './steering-inbox.js';
import { runOf } from '../../src/core/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';

/** Options of a {@link SteeringAdvisor}. */
export interface SteeringAdvisorOptions extends AdvisorPlace {
  /**
   * The inbox of the turn, or a function that finds it by the request, such as by its conversation;
   * undefined for a turn that takes no messages.
   */
  readonly inbox: SteeringInbox | ((request: ChatClientRequest) => SteeringInbox | undefined);
  /** Position, right of the tool loop. @default AdvisorOrder.STEERING */
  readonly order?: number | undefined;
}

const INBOX = withMethods('a SteeringInbox', 'send', 'takeDeferred');
const RULES = { inbox: required(orFunction(INBOX)) };

/** Brings messages of the user into a turn that runs, between its iterations or at once. */
export class SteeringAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly parts: readonly Advisor[];
  private readonly turns = new RunSlot<SteeredTurn>();

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: SteeringAdvisorOptions) {
    const place = { name: 'steering', order: AdvisorOrder.STEERING };
    ({ name: this.name, order: this.order } = placeOf('SteeringAdvisor', options, RULES, place));
    const around: Advisor['around'] = (request, next) => this.runTurn(request, next);
    this.parts = [
      // left of the memory: a message is deferred when the turn is stored, not before
      { name: `${this.name}.turn`, order: AdvisorOrder.LOCK + 100, around },
      // the text in place of a result is the result that is recorded
      {
        name: `${this.name}.tools`,
        order: Math.max(this.order, AdvisorOrder.DURABLE) + 20,
        adviseToolCall: (call, next) => this.steer(call, next, true),
      },
    ];
  }

  hazards({ isLeftOfLoop, memoryRight }: AdvisorNeighbours): Hazards {
    return [
      isLeftOfLoop
        ? `"${this.name}" takes messages left of the tool loop: they wait for the end of the turn; give it an order above TOOL_CALLING`
        : memoryRight !== undefined &&
          `"${memoryRight}" is right of "${this.name}": it stores an answer that a message of the user voids; give the memory a lower order`,
    ];
  }

  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const turn = this.turns.get(request.run);
      if (turn) new SteeredIteration(this.name, turn, request, chain, subscriber).start();
      else chain.next(request).subscribe(subscriber);
    });
  }

  /** The messages that are `waiting` for a model call, and those that are `deferred` to the next turn. */
  inspect(request: ChatClientRequest): InspectedState {
    const turn = this.turns.get(request.run);
    return turn
      ? inspectedState({ waiting: turn.waiting, deferred: turn.inbox.deferredMessages })
      : {};
  }

  /** @throws {@link CancelledError}, the error of the tool */
  adviseToolCall(call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
    return this.steer(call, next, false);
  }

  /** @param isRecording true for the calls of turns that are recorded */
  private async steer(
    call: ToolInvocation,
    next: ToolCallHandler,
    isRecording: boolean,
  ): Promise<ToolResult> {
    const run = runOf(call.context);
    const turn = run && this.turns.get(run);
    if (!turn || run.recorder.isRecording !== isRecording) return next(call);
    // its steps are recorded, not its result
    if (isRecording && call.tool.hasOwnSteps) return next(call);
    return runSteered(call, next, turn);
  }

  private async runTurn(request: ChatClientRequest, next: Next): Promise<ChatClientResponse> {
    const turn = this.beginTurn(request);
    if (!turn) return next(request);
    try {
      const response = await next(request);
      turn.endAnswered();
      return response;
    } catch (error) {
      turn.endFailed(error, request.run.recorder);
      throw error;
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
