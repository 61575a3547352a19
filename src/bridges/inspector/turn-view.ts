import type { Message } from '../../core/chat/message.js';
import type { ToolDefinition } from '../../core/chat/tool-definition.js';
import { isJsonText, parseWritten, type JsonValue } from '../../core/internal/json.js';
import { callCosts, pricedLedger } from './call-costs.js';
import { describeChain } from './chain-description.js';
import type {
  AdvisorChanges,
  InspectedRequest,
  InspectedTurn,
  RequestChange,
  TimelineEntry,
} from './inspected-turn.js';
import type { RecordedCall, RecordedEntry, RecordedTurn } from './recorded-turn.js';
import type { Redactor } from './redactor.js';
import { RequestTrace } from './request-steps.js';
import { answerOf, errorOf, questionOf, summaryOf, usageOf } from './turn-summary.js';

/** The JSON of a turn. What does not change is converted once, however often the turn is read. */
export class TurnView {
  private readonly known = new WeakMap<object, JsonValue>();
  private readonly trace = new RequestTrace();
  private readonly requests: InspectedRequest[] = [];

  constructor(
    private readonly recorded: RecordedTurn,
    private readonly redactor: Redactor,
  ) {}

  turn(): InspectedTurn {
    const { recorded, redactor } = this;
    const { request, advisors } = recorded.origin;
    const { run, prompt, tools, model } = request;
    const costs = callCosts(recorded);
    const reasoning = recorded.response?.message.reasoning ?? recorded.reasoning;
    return {
      ...summaryOf(recorded, redactor),
      chain: describeChain({ advisors, tools, options: prompt.options, model }, redactor),
      timeline: recorded.entries.map((entry) => this.entry(entry, costs.get(entry.id))),
      requests: recorded.calls.map((call, at) => this.request(call, at)),
      questionText: redactor.text(questionOf(recorded)),
      answerText: redactor.text(answerOf(recorded)),
      ...(reasoning && { reasoningText: redactor.text(reasoning) }),
      ledger: pricedLedger(recorded, redactor),
      stored: run.stored.map(({ conversationId, messages }) => ({
        conversationId: redactor.text(conversationId),
        messages: messages.map((message) => this.frozen(message)),
      })),
      pending: redactor.json(
        recorded.paused?.requests ?? recorded.waiting,
      ) as unknown as InspectedTurn['pending'],
      isLive: true,
      isCut: recorded.isCut,
    };
  }

  private entry(entry: RecordedEntry, cost: number | undefined): TimelineEntry {
    const { recorded, redactor } = this;
    const { error, detail, name, usage, ...rest } = entry;
    return {
      ...rest,
      name: redactor.text(name),
      ...(usage && { usage: usageOf(usage, redactor) }),
      ...(cost !== undefined && { cost }),
      ...(error !== undefined && { error: errorOf(error, recorded, redactor) }),
      ...(detail && { detail: this.detail(detail) }),
    };
  }

  /** JSON that a model has written is shown as data, if that changes nothing of it. */
  private detail(detail: Readonly<Record<string, unknown>>): JsonValue {
    const { arguments: written } = detail;
    return this.json(detail, () =>
      typeof written === 'string' ? { ...detail, arguments: parsed(written) } : detail,
    );
  }

  private request(recorded: RecordedCall, at: number): InspectedRequest {
    const request = (this.requests[at] ??= this.traced(recorded));
    const { wire } = recorded;
    if (!wire) return request;
    const url = wire.url === undefined ? {} : { url: this.redactor.text(wire.url) };
    return { ...request, wire: { ...url, body: this.json(wire, () => wire.body) } };
  }

  private traced({ entry, attempt, call }: RecordedCall): InspectedRequest {
    const { request, steps, sincePrevious } = this.trace.next(call);
    const { model, messages, tools, options } = request;
    return {
      ...(model !== undefined && { model: this.redactor.text(model) }),
      messages: messages.map((message) => this.frozen(message)),
      tools: tools.map((tool) => this.frozen(tool)),
      options: this.redactor.json(options) as InspectedRequest['options'],
      entry: entry.id,
      iteration: call.iteration ?? 0,
      attempt,
      steps: steps.map(({ advisor, changes }): AdvisorChanges => {
        return { advisor, changes: changes.map((change) => this.change(change)) };
      }),
      ...(sincePrevious && {
        sincePrevious: sincePrevious.map(({ advisor, change }) => {
          return { advisor, change: this.change(change) };
        }),
      }),
    };
  }

  private change(change: RequestChange): RequestChange {
    switch (change.type) {
      case 'message-added':
      case 'message-removed':
        return { ...change, message: this.frozen(change.message) };
      case 'tool-added':
      case 'tool-removed':
        return { ...change, tool: this.frozen(change.tool) };
      case 'message-changed':
        return { ...change, before: this.frozen(change.before), after: this.frozen(change.after) };
      case 'tool-changed':
        return { ...change, before: this.frozen(change.before), after: this.frozen(change.after) };
      default:
        return { ...(this.redactor.json(change) as object), type: change.type } as RequestChange;
    }
  }

  private frozen<T extends Message | ToolDefinition>(value: T): T {
    return this.json(value, () => value) as unknown as T;
  }

  /** The JSON of a value, which is made once for its owner. */
  private json(owner: object, read: () => unknown): JsonValue {
    const known = this.known.get(owner);
    if (known !== undefined) return known;
    const json = this.redactor.json(valueOf(read));
    this.known.set(owner, json);
    return json;
  }
}

function valueOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return '[unreadable]'; // a getter of a model threw
  }
}

function parsed(written: string): unknown {
  if (!isJsonText(written)) return written;
  try {
    return parseWritten(written);
  } catch {
    return written; // with integers that are larger than numbers can be
  }
}
