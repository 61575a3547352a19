import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  ToolError,
  TurnPausedError,
  type Advisor,
  type ChatEvent,
  type PausedTurn,
  type Tool,
} from '../../../src/index.js';
import { addPaused } from '../../../src/core/chat/paused-turn.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';

const PAUSED: PausedTurn = {
  state: 'state',
  requests: [
    { type: 'question', id: 'q', toolName: 'pay', callId: 'c1', prompt: 'Sure?', schema: {} },
  ],
};

/** Pauses at each call of `pay`, and seals the turn at its outer end. */
const pausing = (pauses: { readonly sealed: boolean } = { sealed: true }): Advisor[] => [
  defineAdvisor({
    name: 'sealing',
    order: AdvisorOrder.TURN,
    around: (request, next) =>
      next(request).catch((error: unknown) => {
        if (pauses.sealed && error instanceof TurnPausedError) addPaused(error, PAUSED);
        throw error;
      }),
  }),
  defineAdvisor({
    name: 'asking',
    order: 1,
    aroundTool: (call, next) =>
      call.call.name === 'pay' ? Promise.reject(new TurnPausedError('waits')) : next(call),
  }),
];

const pay = defineTool({ name: 'pay', execute: () => 'paid' });
const look = defineTool({ name: 'look', execute: () => 'seen' });
const script = () =>
  new ScriptedChatModel([
    {
      text: 'Let me see.',
      toolCalls: [
        { id: 'c1', name: 'pay' },
        { id: 'c2', name: 'look' },
      ],
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    },
  ]);
const clientOf = (advisors: readonly Advisor[] = pausing(), ...tools: Tool[]): ChatClient =>
  ChatClient.builder(script())
    .defaultTools(...(tools.length > 0 ? tools : [pay, look]))
    .defaultAdvisors(...advisors)
    .build();

describe('a paused turn at the edge of a client', () => {
  for (const mode of MODES)
    it(`is a response with its requests and an empty message (${mode})`, async () => {
      const response = await runSpec(mode, clientOf().prompt('Pay'));

      expect(response.finishReason).to.equal('paused');
      expect(response.paused).to.deep.equal(PAUSED);
      expect([response.text, response.hasToolCalls()]).to.deep.equal([null, false]);
      expect(response.usage?.totalTokens).to.equal(7);
    });

  it('has finished siblings in its steps, and pending calls as requested', async () => {
    const { steps } = await clientOf().prompt('Pay').call().chatClientResponse();

    expect(steps[0]?.toolCalls.map(({ toolName, status }) => [toolName, status])).to.deep.equal([
      ['pay', 'requested'],
      ['look', 'finished'],
    ]);
  });

  it('emits no result of a pending call, and ends with the response', async () => {
    const events: ChatEvent[] = [];

    await clientOf()
      .prompt('Pay')
      .stream()
      .events()
      .forEach((event) => events.push(event));

    const results = events.filter(({ type }) => type === 'tool-result');
    expect(results).to.have.length(1);
    expect(events.at(-1)).to.have.nested.property('response.finishReason', 'paused');
  });

  it('is one run for all methods of a call', async () => {
    const call = clientOf().prompt('Pay').call();

    const error = await failureOf(call.content());
    const response = await call.chatResponse();
    const again = await failureOf(call.entity({ type: 'object' }));

    expect([error, again].map((each) => (each as TurnPausedError).paused)).to.deep.equal([
      PAUSED,
      PAUSED,
    ]);
    expect(response.paused).to.equal((error as TurnPausedError).paused);
    expect(response).to.equal(await call.chatResponse());
  });

  for (const [name, read] of [
    ['content()', (client: ChatClient) => client.prompt('Pay').call().content()],
    ['entity()', (client: ChatClient) => client.prompt('Pay').call().entity({ type: 'object' })],
    [
      'stream().entity()',
      (client: ChatClient) => client.prompt('Pay').stream().entity({ type: 'object' }),
    ],
    [
      'stream().partialEntity()',
      (client: ChatClient) =>
        client
          .prompt('Pay')
          .stream()
          .partialEntity({ type: 'object' })
          .forEach(() => undefined),
    ],
    [
      'stream().content()',
      (client: ChatClient) =>
        client
          .prompt('Pay')
          .stream()
          .content()
          .forEach(() => undefined),
    ],
  ] as const)
    it(`is a TurnPausedError of ${name}`, async () => {
      const error = await failureOf(read(clientOf()));

      expect(error).to.be.instanceOf(TurnPausedError);
      expect((error as TurnPausedError).paused).to.deep.equal(PAUSED);
    });

  it('is an error if no advisor has made it data', async () => {
    const error = await failureOf(
      clientOf(pausing({ sealed: false }))
        .prompt('Pay')
        .call()
        .chatResponse(),
    );

    expect(error).to.be.instanceOf(TurnPausedError);
    expect((error as TurnPausedError).paused).to.equal(undefined);
  });

  for (const onToolError of ['send-to-model', 'throw', () => 'no'] as const)
    it(`is not up to onToolError: ${String(onToolError)}`, async () => {
      const asking = defineTool({
        name: 'ask',
        effect: 'read',
        retries: 3,
        onToolError,
        execute: () => Promise.reject(new TurnPausedError('waits')),
      });
      const [sealing] = pausing() as [Advisor];
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'ask' }] }]);
      const client = ChatClient.builder(model).defaultTools(asking).defaultAdvisors(sealing);

      const response = await client.build().prompt('Ask').call().chatResponse();

      expect(response.finishReason).to.equal('paused');
    });

  it('gives way to the error of a sibling that ends the turn', async () => {
    const broken = defineTool({
      name: 'look',
      onToolError: 'throw',
      execute: () => Promise.reject(new ToolError('broken')),
    });

    const error = await failureOf(clientOf(pausing(), pay, broken).prompt('Pay').call().content());

    expect(error).to.have.property('code', 'tool_execution');
  });
});
