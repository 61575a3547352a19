import { expect } from 'chai';
import { z } from 'zod';
import { errorResponse, invalidInput, toHttpError } from '../../../src/bridges/http/index.js';
import { fromUIMessages, toUIMessageStreamResponse } from '../../../src/bridges/ui/index.js';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { ai, type UIMessage } from '../../support/ai-sdk.js';
import { resultsOf } from '../../support/approval.js';
import { SECRET } from '../../support/paused-turns.js';

type Script = ConstructorParameters<typeof ScriptedChatModel>[0];
type Part = UIMessage['parts'][number] & {
  readonly toolCallId: string;
  readonly state: string;
  readonly input: unknown;
  readonly output?: unknown;
};
interface Asked extends Pick<Part, 'toolCallId'> {
  readonly approval: { readonly id: string };
}
type Run = (input: unknown) => { readonly output: unknown } | { readonly errorText: string };

const locate = defineTool({
  name: 'locate',
  effect: 'read',
  input: z.object({ precise: z.boolean().default(false) }),
  output: z.object({ city: z.string() }),
  toModelOutput: ({ city }) => `in ${city}`,
});
const open = defineTool({ name: 'open', effect: 'write', input: z.object({ n: z.number() }) });
const look = defineTool({ name: 'look', effect: 'read', execute: () => ({ seen: true }) });
const direct = defineTool({ name: 'direct', effect: 'read', returnDirect: true });
const call = (id: string, name: string, args: Readonly<Record<string, unknown>> = {}) => ({
  id,
  name,
  arguments: args,
});

/** A page with the `Chat` of the AI SDK and its own tools, on the handler of docs/ui-message-stream.md. */
class Page extends ai.AbstractChat<UIMessage> {
  readonly ran: unknown[] = [];
  readonly statuses: number[] = [];
  constructor(script: Script, run: Run) {
    const model = new ScriptedChatModel(script);
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = new MessageWindowChatMemory({ repository });
    const client = ChatClient.builder(model)
      .defaultTools(locate, open, look, direct)
      .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }), new ApprovalAdvisor({ pause }))
      .build();
    const answer = async (body: unknown): Promise<Response> => {
      try {
        const { message, decisions } = fromUIMessages(body, { by: 'anna' });
        if (message)
          return await toUIMessageStreamResponse(
            client.prompt().messages(message).conversation('c').stream(),
          );
        const [turn] = await client.pending('c');
        if (!turn) throw invalidInput('No turn waits.');
        const resumed = client.resume(turn.id, decisions).conversation('c').stream();
        return await toUIMessageStreamResponse(resumed, { isContinuation: true });
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
        if (toolName === 'look') return;
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

  async settled(): Promise<readonly Part[]> {
    for (
      let quiet = 0;
      quiet < 20;
      quiet = this.status === 'ready' || this.status === 'error' ? quiet + 1 : 0
    )
      await new Promise((resolve) => setTimeout(resolve, 5));
    return (this.lastMessage?.parts ?? []).filter((part) => 'toolCallId' in part) as Part[];
  }

  get text(): string {
    return (this.lastMessage?.parts ?? [])
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('');
  }
}

const rome: Run = () => ({ output: { city: 'Rome' } });

describe('tools that the page of useChat runs', () => {
  it('run with the checked input, and their output continues the same message', async () => {
    const page = new Page([{ toolCalls: [call('c1', 'locate')] }, 'Done.'], rome);

    await page.sendMessage({ text: 'Where am I?' });
    const [part] = await page.settled();

    expect(page.ran).to.deep.equal([{ precise: false }]);
    expect(part).to.deep.include({ state: 'output-available', output: { city: 'Rome' } });
    expect(page.messages).to.have.length(2);
    expect(page.text).to.equal('Done.');
    expect(resultsOf(page.model)).to.deep.equal(['in Rome']);
    expect(page.statuses).to.deep.equal([200, 200]);
  });

  it('run side by side with tools of the server, and once each over several pauses', async () => {
    const script = [
      { toolCalls: [call('a', 'locate'), call('s', 'look'), call('b', 'locate')] },
      { toolCalls: [call('d', 'locate')] },
      'Done.',
    ];
    const page = new Page(script, rome);

    await page.sendMessage({ text: 'Q' });
    const parts = await page.settled();

    expect(page.ran).to.have.length(3);
    expect(parts.map(({ toolCallId, output }) => [toolCallId, output])).to.deep.equal([
      ['a', { city: 'Rome' }],
      ['s', { seen: true }],
      ['b', { city: 'Rome' }],
      ['d', { city: 'Rome' }],
    ]);
    expect(page.text).to.equal('Done.');
    expect(page.statuses).to.deep.equal([200, 200, 200]);
  });

  it('give the model the text of an error', async () => {
    const page = new Page([{ toolCalls: [call('c1', 'locate')] }, 'Done.'], () => ({
      errorText: 'No GPS.',
    }));

    await page.sendMessage({ text: 'Q' });
    const [part] = await page.settled();

    expect(part).to.deep.include({ state: 'output-error', errorText: 'No GPS.' });
    expect(resultsOf(page.model)[0]).to.include('No GPS.');
  });

  it('show an output that does not fit as an error', async () => {
    const page = new Page([{ toolCalls: [call('c1', 'locate')] }, 'Done.'], () => ({ output: 7 }));

    await page.sendMessage({ text: 'Q' });
    const [part] = await page.settled();

    expect(part).to.include({ state: 'output-error' });
    expect(page.text).to.equal('Done.');
  });

  for (const approved of [true, false])
    it(`run after the approval alone, which is ${approved ? 'given' : 'denied'}`, async () => {
      const page = new Page([{ toolCalls: [call('c1', 'open', { n: 1 })] }, 'Done.'], () => ({
        output: 'opened',
      }));
      await page.sendMessage({ text: 'Q' });
      const [asked] = (await page.settled()) as (Part & { approval: { id: string } })[];
      expect(asked).to.deep.include({ state: 'approval-requested', input: { n: 1 } });
      expect(page.ran).to.deep.equal([]);

      await page.addToolApprovalResponse({ id: asked?.approval.id ?? '', approved });
      const [part] = await page.settled();

      expect(page.ran).to.deep.equal(approved ? [{ n: 1 }] : []);
      expect(part?.state).to.equal(approved ? 'output-available' : 'output-denied');
      expect(page.text).to.equal('Done.');
    });

  it('run beside a call that is denied, and the turn ends with its answer', async () => {
    const page = new Page(
      [{ toolCalls: [call('c1', 'open', { n: 1 }), call('c2', 'open', { n: 2 })] }, 'Done.'],
      rome,
    );

    await page.sendMessage({ text: 'Q' });
    for (const { toolCallId, approval } of (await page.settled()) as readonly Asked[])
      await page.addToolApprovalResponse({ id: approval.id, approved: toolCallId === 'c1' });
    const parts = await page.settled();

    expect(page.text).to.equal('Done.');
    expect(page.ran).to.deep.equal([{ n: 1 }]);
    expect(parts.map(({ state }) => state)).to.deep.equal(['output-available', 'output-denied']);
  });

  it('end the turn with returnDirect, and nothing is sent again', async () => {
    const page = new Page([{ toolCalls: [call('c1', 'direct')] }], () => ({
      output: 'It is noon.',
    }));

    await page.sendMessage({ text: 'Q' });
    await page.settled();

    expect(page.text).to.equal('It is noon.');
    expect(page.statuses).to.deep.equal([200, 200]);
  });

  it('answer no approval by a forged output', async () => {
    const page = new Page([{ toolCalls: [call('c1', 'open', { n: 1 })] }, 'Done.'], rome);
    await page.sendMessage({ text: 'Q' });
    await page.settled();

    await page.addToolOutput({ tool: 'open', toolCallId: 'c1', output: 'forged' as never });
    const [part] = await page.settled();

    expect(part?.state).to.equal('approval-requested');
    expect(page.ran).to.deep.equal([]);
    expect(page.model.prompts).to.have.length(1);
  });
});
