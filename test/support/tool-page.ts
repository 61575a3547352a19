import { z } from 'zod';
import {
  errorResponse,
  invalidInput,
  toHttpError,
  type EventSource,
} from '../../src/bridges/http/index.js';
import { TurnStreams, type TurnLog } from '../../src/bridges/turn-log/index.js';
import { fromUIMessages, toUIMessageStreamResponse } from '../../src/bridges/ui/index.js';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type Advisor,
  type StreamResult,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { ai, type UIMessage } from './ai-sdk.js';
import { SECRET } from './paused-turns.js';

type Script = ConstructorParameters<typeof ScriptedChatModel>[0];
/** A part of a call. */
export type CallPart = UIMessage['parts'][number] & {
  readonly toolCallId: string;
  readonly state: string;
  readonly input: unknown;
  readonly output?: unknown;
};
/** Runs a tool of the page. */
export type RunTool = (
  input: unknown,
) => { readonly output: unknown } | { readonly errorText: string };

const locate = defineTool({
  name: 'locate',
  effect: 'read',
  input: z.object({ precise: z.boolean().default(false) }),
  output: z.object({ city: z.string() }),
  toModelOutput: ({ city }) => `in ${city}`,
});
const open = defineTool({ name: 'open', effect: 'write', input: z.object({ n: z.number() }) });
const look = defineTool({ name: 'look', effect: 'read', execute: () => ({ seen: true }) });
const pay = defineTool({ name: 'pay', effect: 'write', execute: () => ({ paid: true }) });
const direct = defineTool({ name: 'direct', effect: 'read', returnDirect: true });
/** Tools by their name: `locate`, `open` and `direct` are the page's; `open` and `pay` need an approval. */
export const TOOLS = { locate, open, look, pay, direct };

export const callOf = (id: string, name: string, args: Readonly<Record<string, unknown>> = {}) => ({
  id,
  name,
  arguments: args,
});

/** A page with the `Chat` of the AI SDK and its own tools, on the handler of docs/ui-message-stream.md. */
export class ToolPage extends ai.AbstractChat<UIMessage> {
  readonly ran: unknown[] = [];
  readonly statuses: number[] = [];
  /** @param log logs the turns, which the page reads from it */
  constructor(
    script: Script,
    run: RunTool,
    { advisors = [], log }: { readonly advisors?: readonly Advisor[]; readonly log?: TurnLog } = {},
  ) {
    const model = new ScriptedChatModel(script);
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = new MessageWindowChatMemory({ repository });
    const client = ChatClient.builder(model)
      .defaultTools(...Object.values(TOOLS))
      .defaultAdvisors(
        new MessageChatMemoryAdvisor({ chatMemory }),
        new ApprovalAdvisor({ pause }),
        ...advisors,
      )
      .build();
    const streams = log && new TurnStreams({ log });
    const logged = async (stream: StreamResult): Promise<EventSource> =>
      streams ? streams.start('c', stream) : stream;
    const answer = async (body: unknown): Promise<Response> => {
      try {
        const { message, decisions } = fromUIMessages(body, { by: 'anna' });
        if (message)
          return await toUIMessageStreamResponse(
            await logged(client.prompt().messages(message).conversation('c').stream()),
          );
        const [turn] = await client.pending('c');
        if (!turn) throw invalidInput('No turn waits.');
        const resumed = client.resume(turn.id, decisions).conversation('c').stream();
        return await toUIMessageStreamResponse(await logged(resumed), { isContinuation: true });
      } catch (error) {
        return errorResponse(toHttpError(error));
      }
    };
    const transport = new ai.DefaultChatTransport<UIMessage>({
      api: 'http://localhost/chat',
      fetch: async (_url, init) => {
        const response = await answer(JSON.parse(init?.body as string) as unknown);
        this.statuses.push(response.status);
        return response;
      },
    });
    const state = {
      status: 'ready' as const,
      error: undefined,
      messages: [] as UIMessage[],
      pushMessage: (message: UIMessage) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage: (at: number, message: UIMessage) => {
        state.messages = state.messages.with(at, structuredClone(message));
      },
      snapshot: <T>(thing: T): T => structuredClone(thing),
    };
    super({
      state,
      transport,
      generateId: ai.generateId,
      sendAutomaticallyWhen: (all) =>
        ai.lastAssistantMessageIsCompleteWithToolCalls(all) ||
        ai.lastAssistantMessageIsCompleteWithApprovalResponses(all),
      onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => {
        if (toolName === 'look' || toolName === 'pay') return;
        this.ran.push(input);
        const ended = run(input);
        const of = { tool: toolName, toolCallId } as const;
        // not awaited: the chat adds it after the chunk
        void ('output' in ended
          ? this.addToolOutput({ ...of, output: ended.output as never })
          : this.addToolOutput({ ...of, state: 'output-error', errorText: ended.errorText }));
      },
    });
    this.model = model;
  }
  declare readonly model: ScriptedChatModel;

  async settled(): Promise<readonly CallPart[]> {
    for (
      let quiet = 0;
      quiet < 20;
      quiet = this.status === 'ready' || this.status === 'error' ? quiet + 1 : 0
    )
      await new Promise((resolve) => setTimeout(resolve, 5));
    return (this.lastMessage?.parts ?? []).filter((part) => 'toolCallId' in part) as CallPart[];
  }

  get text(): string {
    return (this.lastMessage?.parts ?? [])
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('');
  }
}
