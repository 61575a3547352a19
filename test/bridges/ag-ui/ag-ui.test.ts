import { expect } from 'chai';
import fc from 'fast-check';
import { retry } from 'rxjs';
import { agUI, type AgUIOptions, type RunInput } from '../../../src/bridges/ag-ui/index.js';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  ModelCallError,
  toolResult,
  type Advisor,
  type ChatEvent,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { Reader, shape } from '../../support/ag-ui.js';
import { fuzz } from '../../support/fuzz.js';
import { anyScene, chainOf, holdsText, type Scene } from '../../support/random-chains.js';

const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
const find = defineTool({ name: 'find', input, execute: ({ n }) => `row ${Number(n)}` });
const broken = defineTool({
  name: 'broken',
  execute: () => {
    throw new TypeError('canary');
  },
});
const busy = defineTool({
  name: 'busy',
  execute: (_, context) => {
    context.progress({ done: 1 });
    context.emit({ type: 'custom', name: 'weather', data: { warm: true } } as never);
    return toolResult({
      content: [
        { type: 'text', text: 'a map' },
        { type: 'image', data: 'AAAA', mediaType: 'image/png' },
      ],
    });
  },
});
const call = (id: string, n: unknown, name = 'find') => ({ id, name, arguments: { n } });
const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

function reader(script: readonly ScriptedAnswer[], ...advisors: readonly Advisor[]): Reader {
  return readerWith({}, script, ...advisors);
}

function readerWith(
  options: Partial<AgUIOptions>,
  script: readonly ScriptedAnswer[],
  ...advisors: readonly Advisor[]
): Reader {
  const client = ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(find, broken, busy)
    .defaultAdvisors(...advisors)
    .build();
  const answer = ({ message }: RunInput) =>
    client
      .prompt()
      .messages(message ?? [])
      .stream();
  return new Reader(answer, options);
}

/** Tries a failed model again. */
const again: Advisor = {
  name: 'again',
  order: 1_500,
  advise: (request, chain) => chain.next(request).pipe(retry(2)),
};

describe('AG-UI', () => {
  it('has the text, lifecycle, step and usage of a plain answer', async () => {
    const client = reader([{ text: 'It is warm.', usage }]);

    expect(shape(await client.ask('Hello'))).to.deep.equal([
      ['user', 'Hello'],
      ['assistant', 'It is warm.'],
    ]);
    expect(client.types().filter((type) => type !== 'TEXT_MESSAGE_CONTENT')).to.deep.equal([
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(client.events[0]).to.deep.include({ threadId: 't1', protocolVersion: '1.0' });
    expect(client.last()).to.deep.include({
      outcome: { type: 'success' },
      usage: [{ model: 'scripted', ...usage }],
      metadata: { finishReason: 'stop' },
    });
  });

  it('has reasoning and sources', async () => {
    const citations = [{ url: 'https://a.example', raw: { canary: 1 } }];
    const client = reader([{ reasoning: 'Let me think.', text: 'Warm.', citations }]);

    expect(shape(await client.ask('Hello'))).to.deep.equal([
      ['user', 'Hello'],
      ['reasoning', 'Let me think.'],
      ['assistant', 'Warm.'],
    ]);
    const custom = client.events.find(({ type }) => type === 'CUSTOM');
    expect(custom).to.deep.include({ name: 'advisor-chain.citation', value: { url: 'https://a.example' } }); // prettier-ignore
  });

  it('has the calls of three iterations, five of them in parallel', async () => {
    const five = [1, 2, 3, 4, 5].map((n) => call(`c${n}`, n));
    const client = reader([{ text: 'Look.', toolCalls: five }, { toolCalls: [call('d', 6)] }, { text: 'Six.' }]); // prettier-ignore

    const messages = await client.ask('Find');

    const calls = five.map(() => ({ name: 'find' }));
    const folded = shape(messages) as [string, string, ...object[]][];
    expect(folded[1]?.slice(0, 2)).to.deep.equal(['assistant', 'Look.']);
    expect(folded[1]?.slice(2)).to.have.length(calls.length);
    expect(folded[1]?.[2]).to.deep.equal({ name: 'find', arguments: '{"n":1}' });
    expect(folded.slice(2, 7)).to.deep.equal([1, 2, 3, 4, 5].map((n) => ['tool', `row ${n}`]));
    expect(folded.slice(7)).to.deep.equal([
      ['assistant', '', { name: 'find', arguments: '{"n":6}' }],
      ['tool', 'row 6'],
      ['assistant', 'Six.'],
    ]);
  });

  it('marks the result of a tool that failed, and of arguments that are not valid', async () => {
    const client = reader([{ toolCalls: [{ id: 'a', name: 'broken' }, call('b', 'x')] }, { text: 'No.' }]); // prettier-ignore

    await client.ask('Find');

    const results = client.events.filter(({ type }) => type === 'TOOL_CALL_RESULT');
    expect(results.map(({ metadata }) => metadata)).to.deep.equal([{ isError: true }, { isError: true }]); // prettier-ignore
    expect(JSON.stringify(client.events)).not.to.include('at ');
  });

  it('has progress, custom events that are named, and media of a result', async () => {
    const script = [{ toolCalls: [{ id: 'a', name: 'busy' }] }, { text: 'Done.' }];
    const client = readerWith({ customEvents: ['weather' as never] }, script);
    const silent = reader(script);

    const messages = await client.ask('Work');

    const custom = client.events.filter(({ type }) => type === 'CUSTOM');
    expect(custom.map(({ name, value }) => [name, value])).to.deep.equal([
      ['advisor-chain.tool-progress', { toolCallId: 'a', toolName: 'busy', data: { done: 1 } }],
      ['weather', { warm: true }],
    ]);
    await silent.ask('Work');
    expect(silent.types().filter((type) => type === 'CUSTOM')).to.have.length(1);
    expect(messages.find(({ role }) => role === 'tool')?.content).to.deep.equal([
      { type: 'text', text: 'a map' },
      { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
    ]);
  });

  it('has the state of a custom event, and the latest one stands', async () => {
    let at = 0;
    const count = defineTool({
      name: 'count',
      execute: (_, context) => {
        context.emit({ type: 'custom', name: 'board', data: { count: ++at } } as never);
        return 'counted';
      },
    });
    const calls = [{ toolCalls: [{ id: 'a', name: 'count' }] }, { toolCalls: [{ id: 'b', name: 'count' }] }, 'Two.']; // prettier-ignore
    const model = new ScriptedChatModel(calls as ScriptedAnswer[]);
    const client = ChatClient.builder(model).defaultTools(count).build();
    const page = new Reader(() => client.prompt('Count').stream(), { state: 'board' as never });

    await page.ask('Count');

    const snapshots = page.events.filter(({ type }) => type === 'STATE_SNAPSHOT');
    expect(snapshots.map(({ snapshot }) => snapshot as unknown)).to.deep.equal([{ count: 1 }, { count: 2 }]); // prettier-ignore
    expect(page.agent.state).to.deep.equal({ count: 2 });
    expect(page.types()).not.to.include('CUSTOM');
  });

  it('takes back what a retry has voided, and keeps the messages of before', async () => {
    const failed = { reasoning: 'Void.', text: 'It is', error: new ModelCallError('x', { status: 503 }) }; // prettier-ignore
    const client = reader([{ reasoning: 'First.', text: 'Hi.' }, failed, { toolCalls: [call('c', 1)] }, failed, { text: 'Warm.' }], { ...again, order: AdvisorOrder.TOOL_CALLING + 1 }); // prettier-ignore
    await client.ask('Hello');

    expect(shape(await client.ask('Is it warm?'))).to.deep.equal([
      ['user', 'Hello'],
      ['reasoning', 'First.'],
      ['assistant', 'Hi.'],
      ['user', 'Is it warm?'],
      ['assistant', '', { name: 'find', arguments: '{"n":1}' }],
      ['tool', 'row 1'],
      ['assistant', 'Warm.'],
    ]);
    expect(client.types().filter((type) => type === 'MESSAGES_SNAPSHOT')).to.have.length(2);
  });

  it('empties void reasoning where none stands, and names what is void for a page whose body is not given', async () => {
    const failed = { reasoning: 'Void.', text: 'It is', error: new ModelCallError('x', { status: 503 }) }; // prettier-ignore
    const client = reader([failed, 'Warm.'], again);
    const without = readerWith({ body: undefined }, [failed, 'Warm.'], again);

    const messages = await client.ask('Hello');
    const all = await without.ask('Hello');

    expect(shape(messages)).to.deep.equal([['user', 'Hello'], ['assistant', 'Warm.']]); // prettier-ignore
    expect(without.types()).not.to.include('MESSAGES_SNAPSHOT');
    const { value } = without.events.find(({ type }) => type === 'CUSTOM') as unknown as {
      readonly value: { readonly messageIds: readonly string[] };
    };
    const standing = all.filter(({ id }) => !value.messageIds.includes(id));
    expect(shape(standing)).to.deep.equal([['user', 'Hello'], ['assistant', 'Warm.']]); // prettier-ignore
  });

  it('names the messages that a retry has voided, and answers their calls', async () => {
    const client = reader([{ text: 'It is', toolCalls: [call('c', 1)], error: new ModelCallError('canary', { status: 503 }) }, { toolCalls: [call('c', 1)] }, { text: 'Warm.' }], again); // prettier-ignore

    expect(shape(await client.ask('Hello'))).to.deep.equal([
      ['user', 'Hello'],
      ['assistant', '', { name: 'find', arguments: '{"n":1}' }],
      ['tool', 'row 1'],
      ['assistant', 'Warm.'],
    ]);
    expect(client.last()).to.deep.include({ outcome: { type: 'success' } });
  });

  it('fails with the status of an error before the first event', async () => {
    const error = new ModelCallError('canary', { status: 429 });

    const failure: unknown = await reader([error])
      .ask('Hello')
      .catch((each: unknown) => each);

    expect(failure).to.include({ status: 429 });
  });

  it('ends with RUN_ERROR after an error in the middle', async () => {
    const client = reader([{ text: 'It is', error: new ModelCallError('canary', { status: 429 }) }]); // prettier-ignore

    await client.ask('Hello').catch(() => undefined);

    expect(client.last()).to.deep.include({ type: 'RUN_ERROR', code: 'model_call' });
    expect(JSON.stringify(client.events)).not.to.include('canary');
  });

  it('ends a run that was stopped with the outcome cancelled', () => {
    const encoder = agUI({ threadId: 't', runId: 'r' }).encoder();
    encoder.encode({ type: 'text-delta', text: 'a' });

    const frames = encoder.fail({ status: 499, code: 'cancelled', message: 'Stopped.' });

    expect(frames).to.include('TEXT_MESSAGE_END').and.to.include('"outcome":{"type":"cancelled"}');
  });

  it('writes hostile texts into one frame each, the same in each encoding', () => {
    const events: ChatEvent[] = [
      { type: 'text-delta', text: 'a\n\ndata: {"type":"RUN_FINISHED"}\n\n\u2028\ud800' },
      { type: 'tool-call-delta', index: 0, id: '__proto__', name: 'x\r\n', arguments: '{' },
    ];
    const encode = (): string => {
      const encoder = agUI({ threadId: 't', runId: 'r\n' }).encoder();
      return events.map((event) => encoder.encode(event)).join('') + encoder.end();
    };

    expect(encode())
      .to.match(/^(?:data: \{[^\r\n]*\}\n\n)+$/)
      .and.to.equal(encode());
  });

  it('leaves out what an earlier run has shown, unless it is asked for', () => {
    const event: ChatEvent = { type: 'text-delta', text: 'seen', isReplayed: true };
    const encode = (showReplayed?: boolean): string =>
      agUI({ threadId: 't', runId: 'r', showReplayed }).encoder().encode(event);

    expect(encode()).not.to.include('seen');
    expect(encode(true)).to.include('seen');
  });

  it('is accepted by the verifier for random chains, and folds to the answers', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(anyScene, (scene) => foldsToAnswers(scene)),
      { ...fuzz('ag-ui', 0), numRuns: 100 },
    );
  });
});

async function foldsToAnswers(scene: Scene): Promise<void> {
  let answers: { index: number; text: string; calls: readonly string[] }[] = [];
  let last: string | undefined;
  const client = new Reader(async function* () {
    for await (const event of chainOf(scene).spec.stream().events()) {
      if (event.type === 'retract')
        answers = answers.filter(({ index }) => index < event.iteration);
      if (event.type === 'iteration' || event.type === 'response') {
        const { text, message } = event.response;
        const calls = (message.toolCalls ?? []).map((each) => each.arguments);
        const index = event.type === 'iteration' ? event.index : Infinity;
        answers.push({ index, text: text ?? '', calls });
        if (event.type === 'response') last = text ?? '';
      }
      yield event;
    }
  } as never);
  const messages = await client.ask('Go.').catch((error: unknown) => {
    const isOfTurn = (error as { status?: unknown }).status !== undefined;
    if (!isOfTurn && client.last().type !== 'RUN_ERROR') throw error;
    return undefined;
  });
  if (!messages || last === undefined) {
    expect(last, 'the answer of a turn that failed').to.equal(undefined);
    return;
  }
  const folded = messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    const calls = (message.toolCalls ?? []).map((each) => each.function.arguments);
    return [{ text: message.content ?? '', calls }];
  });
  const isHeld = holdsText(scene);
  const expected = answers
    .map(({ text, calls, index }) => ({ text: isHeld && index < Infinity ? '' : text, calls }))
    .filter(({ text, calls }) => text !== '' || calls.length > 0);
  expect(folded).to.deep.equal(expected);
  const count = (type: string): number => client.types().filter((each) => each === type).length;
  expect(count('TOOL_CALL_RESULT')).to.equal(count('TOOL_CALL_START'));
}
