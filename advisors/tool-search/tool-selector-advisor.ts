import {
  AdvisorOrder,
  type Advisor,
  type AdvisorChain,
  type AdvisorNeighbours,
  type Hazards,
} from '../../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../../src/core/advisor/advisor-place.js';
import { subscribeAfter } from '../../src/core/advisor/around.js';
import { CHAT_MODEL, type ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import type { ChatModel } from '../../src/core/chat/chat-model.js';
import type { ChatResponse } from '../../src/core/chat/chat-response.js';
import { integer, oneOf, required, rule, TEXT } from '../../src/core/internal/options.js';
import { Observable } from '../../src/core/internal/rxjs.js';
import { askModel } from '../../src/core/observation/ask-model.js';
import { selectedNames, selectionPrompt } from './select-tools.js';
import type { Tool } from '../../src/core/tool/tool.js';

/** Options of a {@link ToolSelectorAdvisor}. */
export interface ToolSelectorAdvisorOptions extends AdvisorPlace {
  /** The model that selects; a small and fast one. */
  readonly model: ChatModel;
  /** Maximum number of selected tools, >= 1; a request with no more is not changed. @default 10 */
  readonly maxTools?: number | undefined;
  /** Names of tools that are always offered, beside the selected ones. @default [] */
  readonly alwaysInclude?: readonly string[] | undefined;
  /**
   * After a failed call, or an unusable answer: offer `all` tools, since a turn with too many tools
   * is better than none, or `throw` the error.
   * @default 'all'
   */
  readonly onFailure?: 'all' | 'throw' | undefined;
  /** Position, left of the tool loop. @default AdvisorOrder.TOOL_SEARCH + 100 */
  readonly order?: number | undefined;
}

/** Data of the event `tool-selection`. */
export interface ToolSelectionEvent {
  /** Names of the offered tools, in order. */
  readonly offered: readonly string[];
  /** The failure for which all tools are offered. */
  readonly error?: unknown;
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'tool-selection': ToolSelectionEvent;
  }
}

const NAME = 'ToolSelectorAdvisor';
const RULES = {
  model: required(CHAT_MODEL),
  maxTools: integer(1),
  alwaysInclude: rule(
    'an array of names',
    (value) => Array.isArray(value) && value.every(TEXT.accepts),
  ),
  onFailure: oneOf('all', 'throw'),
};

/** Offers a turn only the tools that a small model selects for its question. */
export class ToolSelectorAdvisor implements Advisor {
  readonly name: string;
  readonly order: number;
  private readonly maxTools: number;
  private readonly always: ReadonlySet<string>;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: ToolSelectorAdvisorOptions) {
    const place = { name: 'tool-selector', order: AdvisorOrder.TOOL_SEARCH + 100 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    this.maxTools = options.maxTools ?? 10;
    this.always = new Set(options.alwaysInclude);
  }

  hazards({ left, right, isInsideLoop }: AdvisorNeighbours): Hazards {
    return [
      [...left, ...right].some(({ role }) => role === 'tool-search') &&
        `"${this.name}" selects tools beside a tool search: what one leaves out the other cannot find; keep one of them`,
      isInsideLoop &&
        `"${this.name}" selects tools inside the tool loop: once per model call; give it an order below TOOL_CALLING to do it once per turn`,
    ];
  }

  /** Fails with the model's error or {@link StructuredOutputError}, with `onFailure: 'throw'`. */
  advise(request: ChatClientRequest, chain: AdvisorChain): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const report = (data: ToolSelectionEvent): void =>
        subscriber.next({ type: 'custom', name: 'tool-selection', data });
      const narrow = (given: ChatClientRequest) => this.narrow(given, report);
      subscribeAfter(this.name, narrow, request, subscriber, (narrowed) =>
        chain.next(narrowed).subscribe(subscriber),
      );
    });
  }

  /** The request with the selected tools; at once if there is nothing to select. */
  private narrow(
    request: ChatClientRequest,
    report: Report,
  ): ChatClientRequest | Promise<ChatClientRequest> {
    const { toolChoice } = request.prompt.options;
    const forced = typeof toolChoice === 'object' ? toolChoice.tool : undefined;
    const candidates = request.tools.filter((tool) => !this.isKept(tool, forced));
    if (candidates.length <= this.maxTools || toolChoice === 'none') return request;
    return this.select(request, candidates, report);
  }

  private isKept({ definition, metadata }: Tool, forced: string | undefined): boolean {
    const { name } = definition;
    return (
      name === forced ||
      this.always.has(name) ||
      metadata.alwaysLoaded === true ||
      metadata.deferred === true
    );
  }

  private async select(
    request: ChatClientRequest,
    candidates: readonly Tool[],
    report: Report,
  ): Promise<ChatClientRequest> {
    const { tools, prompt, cancellation, offeredTools } = request;
    try {
      const response = await this.callModel(request, candidates);
      const selected = new Set(selectedNames(response, candidates, this.maxTools));
      const offered = tools.filter(
        (tool) => !candidates.includes(tool) || selected.has(nameOf(tool)),
      );
      // a model that must call a tool needs one
      const isTooFew = prompt.options.toolChoice === 'required' && offered.length === 0;
      const narrowed = isTooFew ? request : request.withTools(offered);
      report({ offered: narrowed.offeredTools.map(nameOf) });
      return narrowed;
    } catch (error) {
      if (cancellation.cancelled || this.options.onFailure === 'throw') throw error;
      report({ offered: offeredTools.map(nameOf), error });
      return request;
    }
  }

  private callModel(
    { prompt, signal }: ChatClientRequest,
    candidates: readonly Tool[],
  ): Promise<ChatResponse> {
    const { model } = this.options;
    const selection = selectionPrompt(model, candidates, prompt.messages, this.maxTools);
    return askModel(model, selection, signal);
  }
}

type Report = (data: ToolSelectionEvent) => void;
const nameOf = ({ definition }: Tool): string => definition.name;
