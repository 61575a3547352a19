import type { InspectedTurn } from '../../bridges/inspector/index.js';
import { InvalidArgumentError } from '../../core/errors/argument-errors.js';
import { Observable } from '../../core/internal/rxjs.js';
import type {
  Advisor,
  ChatClient,
  ChatEvent,
  ChatModel,
  ChatResponse,
  Tool,
  ToolDefinition,
} from '../../index.js';
import type { Terminal } from '../terminal.js';
import { RecordedRun } from './recorded-run.js';

/** Right of all advisors, so that each of them runs around the recorded answer. */
const INNERMOST = Number.MAX_SAFE_INTEGER - 1;

/**
 * Runs an exported turn again, on the chain of a client. Models and tools are replaced by the export, and no memory of
 * the client is read or written: the export has the history. Other advisors run as they do in the application.
 * @returns the turn as an inspector records it now
 */
export async function replay(
  turn: InspectedTurn,
  client: ChatClient | undefined,
  terminal: Terminal,
): Promise<InspectedTurn> {
  const { ChatClient: Client, ChatResponse: Response } = await import('../../index.js');
  const { Inspector } = await import('../../bridges/inspector/index.js');
  const { OfflineChatModel } = await import('../../testing/index.js');
  const recorded = new RecordedRun(turn);
  const answer = (): ChatResponse => {
    const fields = recorded.nextAnswer();
    if (fields) return new Response(fields);
    throw new InvalidArgumentError('the export has no answer for this call of a model');
  };
  const inspector = new Inspector({ allowInProduction: true });
  const own = client ?? Client.create(new OfflineChatModel({ model: turn.model ?? 'offline' }));
  const spec = own.prompt();
  const { model, advisors, tools, system, messages } = spec.settings;
  const hasSystem = system.text !== undefined || messages.some(({ role }) => role === 'system');
  const sent = recorded.messages().filter(({ role }) => role !== 'system' || !hasSystem);
  const known = new Set(tools.map(({ definition }) => definition.name));
  const missing = (turn.requests[0]?.tools ?? []).filter(({ name }) => !known.has(name));
  const offered = client && hasToolsOfItsOwn(advisors, tools) ? [] : missing.map(recordedTool);
  const prepared = spec
    .with({
      advisors: [
        ...advisors.filter(({ role, name }) => role !== 'chat-memory' && name !== 'inspector'),
        inspector,
        recordedParts(recorded, model, answer),
      ],
    })
    .messages(sent)
    .tools(...offered)
    .conversation(`replay-${turn.id}`)
    .signal(terminal.signal);
  const run =
    turn.mode === 'stream' ? prepared.stream().finalResponse() : prepared.call().chatResponse();
  // an error is part of the recorded turn
  await Promise.resolve(run).catch(() => undefined);
  const [last] = inspector.turns();
  const now = last && inspector.turn(last.id);
  if (!now) throw new InvalidArgumentError(`the turn ${turn.id} did not start`);
  return now;
}

/** True if the client can know the tools of a request by itself: it would have two of them otherwise. */
function hasToolsOfItsOwn(advisors: readonly Advisor[], tools: readonly Tool[]): boolean {
  return tools.length > 0 || advisors.some(({ role }) => role === 'tool-search');
}

/** A tool that is only offered: its results are recorded. */
function recordedTool(definition: ToolDefinition): Tool {
  return {
    definition,
    metadata: {},
    call: () => {
      throw new InvalidArgumentError(`the export has no result of ${definition.name}`);
    },
  };
}

function recordedParts(
  recorded: RecordedRun,
  model: ChatModel,
  answer: () => ChatResponse,
): Advisor {
  return {
    name: 'replay',
    order: INNERMOST,
    advise: (request, chain) =>
      chain.next(request.withModel(asked(request.model ?? model, answer))),
    adviseToolCall: async (invocation, next) => {
      const { call, tool } = invocation;
      // a search unlocks tools, which its recorded text does not hold
      if ((tool.metadata as { readonly findsTools?: boolean } | undefined)?.findsTools)
        return await next(invocation);
      const result = recorded.resultOf(call);
      if (result) return result;
      throw new InvalidArgumentError(`the export has no result of ${call.name}`);
    },
  };
}

/** A model with all but the network: names and abilities stay, answers are recorded. */
function asked(model: ChatModel, answer: () => ChatResponse): ChatModel {
  const replayed: Pick<ChatModel, 'call' | 'stream'> = {
    call: async () => answer(),
    stream: () =>
      new Observable<ChatEvent>((subscriber) => {
        try {
          const response = answer();
          if (response.text) subscriber.next({ type: 'text-delta', text: response.text });
          subscriber.next({ type: 'response', response } as ChatEvent);
          subscriber.complete();
        } catch (error) {
          subscriber.error(error);
        }
      }),
  };
  return Object.assign(Object.create(model) as ChatModel, replayed);
}
