import type { InspectedTurn, RequestChange, TimelineEntry } from '../../bridges/inspector/index.js';
import type { ChatResponse, Message, ToolResult } from '../../index.js';

/** Answers of models and results of tools of an exported turn, in their order. */
export class RecordedRun {
  private readonly answers: TimelineEntry[];
  private readonly results: TimelineEntry[];

  constructor(private readonly turn: InspectedTurn) {
    const calls = new Set(turn.requests.map(({ entry }) => entry));
    const answered = turn.timeline.filter(({ outcome }) => outcome === 'ok');
    this.answers = answered.filter(({ id }) => calls.has(id));
    this.results = turn.timeline.filter(
      ({ kind, detail }) => kind === 'tool-call' && fieldsOf(detail)['result'] !== undefined,
    );
  }

  /** The next answer of the model; undefined if the turn had no more. */
  nextAnswer(): ConstructorParameters<typeof ChatResponse>[0] | undefined {
    const entry = this.answers.shift();
    if (!entry) return undefined;
    const { message, finishReason = 'stop' } = fieldsOf(entry.detail) as {
      readonly message?: Message;
      readonly finishReason?: string;
    };
    if (message?.role !== 'assistant') return undefined;
    return {
      generations: [{ message, finishReason }],
      model: entry.name,
      ...(entry.usage && { usage: entry.usage }),
    };
  }

  /** The result of a call: by its id, else of the next call of the tool. */
  resultOf(call: { readonly id: string; readonly name: string }): ToolResult | undefined {
    const sameId = this.results.findIndex(({ detail }) => fieldsOf(detail)['callId'] === call.id);
    const at = sameId < 0 ? this.results.findIndex(({ name }) => name === call.name) : sameId;
    const [entry] = at < 0 ? [] : this.results.splice(at, 1);
    if (!entry) return undefined;
    const { result, isError } = fieldsOf(entry.detail) as {
      readonly result: ToolResult['content'];
      readonly isError?: boolean;
    };
    return { content: result, ...(isError && { isError }) };
  }

  /**
   * The messages that the application has sent, with the history of its memory: the first request without the changes
   * of all other advisors.
   */
  messages(): readonly Message[] {
    const [first] = this.turn.requests;
    const steps = first?.steps ?? [];
    const roles = new Map(this.turn.chain.advisors.map(({ name, role }) => [name, role]));
    return steps
      .filter(({ advisor }) => roles.get(advisor) !== 'chat-memory')
      .toReversed()
      .reduce((messages, { changes }) => undone(messages, changes), first?.messages ?? []);
  }
}

/** Messages before some changes. A message is found by its content: memories may have moved it. */
function undone(
  messages: readonly Message[],
  changes: readonly RequestChange[],
): readonly Message[] {
  const before = [...messages];
  const placeOf = (message: Message): number =>
    before.findIndex((each) => JSON.stringify(each) === JSON.stringify(message));
  for (const change of changes.toReversed()) {
    if (change.type === 'message-added') {
      const at = placeOf(change.message);
      if (at >= 0) before.splice(at, 1);
    } else if (change.type === 'message-changed') {
      const at = placeOf(change.after);
      if (at >= 0) before[at] = change.before;
    }
  }
  // places of removed messages count in the request before
  for (const change of changes)
    if (change.type === 'message-removed') before.splice(change.at, 0, change.message);
  return before;
}

function fieldsOf(detail: unknown): Readonly<Record<string, unknown>> {
  return typeof detail === 'object' && detail !== null ? (detail as Record<string, unknown>) : {};
}
