import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { toUIMessageStreamResponse, visibleParts } from '../../../src/bridges/ui/index.js';
import type { UIMessageResponseOptions } from '../../../src/bridges/ui/index.js';
import {
  ApprovalAdvisor,
  ChatClient,
  ChatResponse,
  defineAdvisor,
  defineTool,
  FallbackAdvisor,
  InMemoryKeyValueStore,
  ModelCallError,
  RetryAdvisor,
  toolResult,
  type Advisor,
  type ChatClientResponse,
} from '../../../src/index.js';
import { callsOf, textOf as textOfMessage } from '../../../src/core/chat/message.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { readUIMessage, type UIMessage } from '../../support/ai-sdk.js';
import { fuzz } from '../../support/fuzz.js';
import { anyScene, chainOf, holdsText, type Scene } from '../../support/random-chains.js';
import { Random } from '../../support/random.js';

type Script = ConstructorParameters<typeof ScriptedChatModel>[0];
type Part = UIMessage['parts'][number];

declare module '../../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    'ui-weather': { readonly city: string };
  }
}

const find = defineTool({
  name: 'find',
  effect: 'read',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 20 }),
});
const fails = defineTool({
  name: 'fails',
  execute: () => {
    throw new Error('the canary of the tool');
  },
});
const slow = defineTool({
  name: 'slow',
  execute: (_input, { progress }) => {
    progress({ done: 0.5 });
    return 'whole';
  },
});
const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
const call = (id: string, name = 'find', args = '{"city":"Rome"}') => ({
  id,
  name,
  arguments: args,
});

function clientOf(script: Script, ...advisors: readonly Advisor[]) {
  return ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(find, fails, slow, pay)
    .defaultAdvisors(...advisors)
    .build();
}

async function run(
  script: Script,
  options?: UIMessageResponseOptions,
  ...advisors: readonly Advisor[]
) {
  const stream = clientOf(script, ...advisors)
    .prompt('Q')
    .stream();
  return readUIMessage(await toUIMessageStreamResponse(stream, options));
}

const shown = ({ parts }: UIMessage): readonly Part[] =>
  visibleParts(parts).filter(({ type }) => type !== 'step-start');
const textOf = (message: UIMessage): string =>
  shown(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

/** A part without the states that a fold goes through. */
const contentOf = (part: Part): object => {
  const { type, text, toolCallId, input, output, errorText } = part as Part &
    Record<string, unknown>;
  return JSON.parse(JSON.stringify({ type, text, toolCallId, input, output, errorText })) as object;
};

/** The parts that the answers and results of a run have. */
function partsOf({ steps }: ChatClientResponse): readonly object[] {
  const records = steps.flatMap(({ toolCalls }) => toolCalls);
  return steps.flatMap(({ response: { message: each } }) => [
    ...(each.reasoning ? [{ type: 'reasoning', text: each.reasoning }] : []),
    ...(textOfMessage(each) ? [{ type: 'text', text: textOfMessage(each) }] : []),
    ...callsOf(each).map(({ id: toolCallId, name, arguments: json }) => {
      const result = records.find(({ call: { id } }) => id === toolCallId)?.result;
      const text = textOfMessage(result?.content ?? null);
      const output = name === 'find' ? (JSON.parse(text) as unknown) : text;
      const end = result?.isError ? { errorText: text } : { output };
      return { type: `tool-${name}`, toolCallId, input: JSON.parse(json) as unknown, ...end };
    }),
  ]);
}

describe('the UI message stream', () => {
  it('has text and reasoning, and metadata of the turn', async () => {
    const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
    const script = [{ reasoning: 'Hm.', text: 'It is warm.', usage, model: 'm' }];

    const { message, chunks } = await run(script, { messageId: 'm-1' });

    expect(message).to.deep.include({ id: 'm-1', metadata: { model: 'm', usage } });
    expect(shown(message).map(({ type }) => type)).to.deep.equal(['reasoning', 'text']);
    expect(textOf(message)).to.equal('It is warm.');
    expect(chunks.at(-1)).to.deep.include({ type: 'finish', finishReason: 'stop' });
  });

  it('has calls with growing input, and results in three iterations', async () => {
    const script = [
      { text: 'I look.', toolCalls: [call('c1')] },
      { toolCalls: [1, 2, 3, 4, 5].map((at) => call(`p${at}`)) },
      { text: 'It is warm.' },
    ];

    const { message, chunks } = await run(script);

    const tools = shown(message).filter(({ type }) => type === 'tool-find');
    expect(tools).to.have.lengthOf(6);
    for (const tool of tools)
      expect(tool).to.deep.include({
        state: 'output-available',
        input: { city: 'Rome' },
        output: { city: 'Rome', degrees: 20 },
      });
    expect(chunks.some(({ type }) => type === 'tool-input-delta')).to.equal(true);
    expect(textOf(message)).to.equal('I look.It is warm.');
    expect(message.parts.filter(({ type }) => type === 'step-start')).to.have.lengthOf(3);
  });

  it('has errors of tools and of arguments, and progress', async () => {
    const script = [
      {
        toolCalls: [
          call('e', 'fails', '{}'),
          call('i', 'find', '{"city":7}'),
          call('s', 'slow', '{}'),
        ],
      },
      { text: 'Done.' },
    ];

    const { message, chunks } = await run(script);

    const states = Object.fromEntries(
      shown(message).flatMap((part) =>
        'toolCallId' in part ? [[part.toolCallId, part.state]] : [],
      ),
    );
    expect(states).to.deep.equal({ e: 'output-error', i: 'output-error', s: 'output-available' });
    const preliminary = chunks.find((chunk) => 'preliminary' in chunk);
    expect(preliminary).to.deep.include({ toolCallId: 's', output: { done: 0.5 } });
    expect(chunks.find(({ type }) => type === 'tool-input-error')).to.deep.include({
      toolCallId: 'i',
      input: { city: 7 },
    });
  });

  it('has a status before the first event, and an error afterwards, without internals', async () => {
    const down = new ModelCallError('canary', { status: 503 });
    const before = await toUIMessageStreamResponse(clientOf([down]).prompt('Q').stream());
    const after = await run([{ text: 'Half', deltas: ['Ha', 'lf'], error: down }]);

    expect(before.status).to.be.at.least(500);
    expect(await before.text()).not.to.include('canary');
    expect(after.chunks.at(-1)?.type).to.equal('error');
    expect(JSON.stringify(after.chunks)).not.to.include('canary');
    expect(textOf(after.message)).to.equal('Half');
  });

  it('ends with an abort when the run is cancelled', async () => {
    const stop = new AbortController();
    const cancel = defineAdvisor({
      name: 'cancel',
      order: 100,
      onEvent: (event) => (
        event.type === 'text-delta' && event.text === 'text' && stop.abort(),
        event
      ),
    });
    const stream = clientOf([{ text: 'Long text', deltas: ['Long ', 'text'] }], cancel)
      .prompt('Q')
      .signal(stop.signal)
      .stream();

    const { chunks } = await readUIMessage(await toUIMessageStreamResponse(stream));

    expect(chunks.at(-1)?.type).to.equal('abort');
  });

  it('marks what was retracted, which visibleParts leaves out', async () => {
    const down = new ModelCallError('down', { status: 503, retryable: true });
    const script = [{ text: 'Half an', deltas: ['Half ', 'an'], error: down }, { text: 'Whole.' }];

    const { message } = await run(script, {}, new RetryAdvisor({ firstDelay: 1 }));

    expect(message.parts.some(({ type }) => type === 'data-retract')).to.equal(true);
    expect(textOf(message)).to.equal('Whole.');
  });

  it('takes back an answer that has replaced a void one', async () => {
    const down = new ModelCallError('down', { status: 503 });
    const script = [{ text: 'Half an', deltas: ['Half ', 'an'], error: down }, { text: 'Whole.' }];
    const excuses = defineAdvisor({
      name: 'excuses',
      order: 200,
      around: (request, next) => next(request).catch(() => ChatResponse.ofText('Sorry.')),
    });
    const asksAgain = defineAdvisor({
      name: 'asks-again',
      order: 100,
      around: async (request, next) => {
        const response = await next(request);
        return response.text === 'Sorry.' ? next(request) : response;
      },
    });

    const { message } = await run(script, {}, asksAgain, excuses);

    expect(textOf(message)).to.equal('Whole.');
  });

  it('marks what was retracted after a pause in the message that it continues', async () => {
    const pause = { secrets: ['s'.repeat(32)], store: new InMemoryKeyValueStore() };
    const down = new ModelCallError('down', { status: 503, retryable: true });
    const half = { text: 'Half an', deltas: ['Half ', 'an'], error: down };
    const script = [
      half,
      { text: 'I pay.', toolCalls: [call('p', 'pay', '{}')] },
      half,
      { text: 'Paid.' },
    ];
    const retry = new RetryAdvisor({ firstDelay: 1 });
    const client = clientOf(script, new ApprovalAdvisor({ pause }), retry);
    const { message } = await readUIMessage(
      await toUIMessageStreamResponse(client.prompt('Q').stream()),
    );
    expect(textOf(message)).to.equal('I pay.');

    const { pausedTurn } = message.metadata as { readonly pausedTurn: string };
    const resumed = client.resume(pausedTurn, () => ({ type: 'allow' })).stream();
    const options = { isContinuation: true };
    const { message: whole } = await readUIMessage(
      await toUIMessageStreamResponse(resumed, options),
      message,
    );

    expect(textOf(whole)).to.equal('I pay.Paid.');
    expect(shown(whole).some(({ type }) => type === 'tool-pay')).to.equal(true);
  });

  it('asks for an approval, and continues the message of a resumed turn', async () => {
    const pause = { secrets: ['s'.repeat(32)], store: new InMemoryKeyValueStore() };
    const script = [
      { text: 'I pay.', toolCalls: [call('p', 'pay', '{}'), call('q', 'pay', '{}')] },
      { text: 'Paid once.' },
    ];
    const client = clientOf(script, new ApprovalAdvisor({ pause }));
    const asked = await readUIMessage(await toUIMessageStreamResponse(client.prompt('Q').stream()));

    const requests = asked.message.parts.flatMap((part) =>
      'approval' in part && part.approval ? [part.approval.id] : [],
    );
    const { pausedTurn } = asked.message.metadata as { readonly pausedTurn: string };
    const [first = '', second = ''] = requests;
    const decisions = { [first]: { type: 'allow' }, [second]: { type: 'deny' } } as const;
    const resumed = await toUIMessageStreamResponse(client.resume(pausedTurn, decisions).stream(), {
      isContinuation: true,
    });
    const { chunks, message } = await readUIMessage(resumed, asked.message);

    expect(requests).to.have.lengthOf(2);
    expect(asked.chunks.at(-1)).to.deep.include({ type: 'finish', finishReason: 'tool-calls' });
    expect(
      chunks.filter((chunk) => 'toolCallId' in chunk).map((chunk) => chunk.type),
    ).to.have.members(['tool-output-available', 'tool-output-denied']);
    expect(JSON.stringify(chunks)).not.to.include('I pay.');
    expect(textOf(message)).to.equal('I pay.Paid once.');
    expect(
      message.parts.flatMap((part) => ('toolCallId' in part ? [part.state] : [])),
    ).to.deep.equal(['output-available', 'output-denied']);
  });

  it('has the media of a result as files, by content or web address', async () => {
    const content = [
      { type: 'text', text: 'Two pictures.' },
      { type: 'image', mediaType: 'image/png', data: new Uint8Array([1, 2, 255]) },
      { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/a.pdf' },
      { type: 'file', mediaType: 'text/html', url: 'javascript:alert(1)' },
      { type: 'image', url: 'https://example.com/without-a-type' },
    ] as const;
    const draw = defineTool({ name: 'draw', execute: () => toolResult({ content }) });
    const model = new ScriptedChatModel([{ toolCalls: [call('d', 'draw', '{}')] }, 'Done.']);
    const stream = ChatClient.create(model).prompt('Q').tools(draw).stream();

    const { message } = await readUIMessage(await toUIMessageStreamResponse(stream));

    const files = message.parts.filter(({ type }) => type === 'file');
    expect(files).to.deep.equal([
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQL/' },
      { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/a.pdf' },
    ]);
    expect(message.parts.find(({ type }) => type === 'tool-draw')).to.deep.include({
      output: 'Two pictures.',
    });
  });

  it('has the documents of a retrieval and cited addresses as sources, each once, without texts', async () => {
    const documents = [
      { key: 'd1', id: '1', metadata: { title: 'Manual' }, text: 'canary' },
      { key: 'd2', id: '2', metadata: { url: 'https://example.com/a', title: 'Page' } },
      { key: 'd3', id: '3', metadata: { url: 'javascript:alert(1)' } },
    ];
    const citations = [
      { url: 'https://example.com/b', title: 'Cited' },
      { url: 'https://example.com/b' },
      { url: 'javascript:alert(1)' },
    ];
    const emits = defineAdvisor({
      name: 'emits',
      order: 100,
      onEvent: (event) =>
        event.type === 'text-delta'
          ? [
              { type: 'custom', name: 'sources', data: { documents } } as never,
              event,
              ...citations.map((citation) => ({ type: 'citation', citation }) as const),
            ]
          : event,
    });

    const { message } = await run([{ text: 'Hi.' }], {}, emits);

    const sources = message.parts.filter(({ type }) => type.startsWith('source-'));
    expect(JSON.parse(JSON.stringify(sources))).to.deep.equal([
      { type: 'source-document', sourceId: 'd1', mediaType: 'text/plain', title: 'Manual' },
      { type: 'source-url', sourceId: 'd2', url: 'https://example.com/a', title: 'Page' },
      { type: 'source-document', sourceId: 'd3', mediaType: 'text/plain', title: '3' },
      {
        type: 'source-url',
        sourceId: 'https://example.com/b',
        url: 'https://example.com/b',
        title: 'Cited',
      },
    ]);
    expect(textOf(message)).to.equal('Hi.');
  });

  it('has data of custom events that are named', async () => {
    const emits = defineAdvisor({
      name: 'emits',
      order: 100,
      onEvent: (event) =>
        event.type === 'text-delta'
          ? [{ type: 'custom', name: 'ui-weather', data: { city: 'Rome' } }, event]
          : event,
    });

    const named = await run([{ text: 'Hi.' }], { customEvents: ['ui-weather'] }, emits);
    const silent = await run([{ text: 'Hi.' }], {}, emits);

    expect(named.message.parts.find(({ type }) => type === 'data-ui-weather')).to.deep.include({
      data: { city: 'Rome' },
    });
    expect(JSON.stringify(silent.message)).not.to.include('ui-weather');
  });

  it('folds to the response of each of 200 random runs', async () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = new Random(seed);
      const down = new ModelCallError('down', { status: 503, retryable: true });
      const answers: unknown[] = [];
      let expected = '';
      const iterations = random.below(4);
      for (let at = 0; at <= iterations; at++) {
        if (random.chance(0.3)) answers.push({ text: 'half', deltas: ['ha', 'lf'], error: down });
        const text = random.chance(0.7) || at === iterations ? `t${at} ` : '';
        const reasoning = random.chance(0.3) ? { reasoning: 'why' } : {};
        const calls =
          at < iterations
            ? Array.from({ length: 1 + random.below(3) }, (_, n) =>
                call(`c${at}-${n}`, random.pick(['find', 'fails', 'slow', 'find'])),
              )
            : [];
        answers.push({ text, ...reasoning, ...(calls.length > 0 && { toolCalls: calls }) });
        expected += text;
      }
      const stream = clientOf(answers as Script, new RetryAdvisor({ firstDelay: 1 }))
        .prompt('Q')
        .stream();

      const { message } = await readUIMessage(await toUIMessageStreamResponse(stream));
      const response = await stream.finalResponse();

      expect(shown(message).map(contentOf), `seed ${seed}`).to.deep.equal(partsOf(response));
      expect(textOf(message), `seed ${seed}`).to.equal(expected);
    }
  });

  it('is accepted by the reader for 200 random chains, and folds to their answers', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(anyScene, (scene) => foldsToAnswers(scene)),
      { ...fuzz('ui', 0), numRuns: 200 },
    );
  });

  it('shows an answer by which an advisor replaces the streamed one', async () => {
    const replaces = defineAdvisor({
      name: 'replaces',
      order: 100,
      after: () => ChatResponse.ofText('Replaced.'),
    });

    const { message } = await run([{ text: 'A secret.' }], {}, replaces);

    expect(textOf(message)).to.equal('Replaced.');
  });

  it('has the answer of a fallback alone', async () => {
    const other = new ScriptedChatModel([{ text: 'From the other.' }]);
    const script = [
      {
        text: 'Half',
        deltas: ['Ha', 'lf'],
        error: new ModelCallError('x', { status: 503, retryable: true }),
      },
    ];

    const { message } = await run(script, {}, new FallbackAdvisor({ models: [other] }));

    expect(textOf(message)).to.equal('From the other.');
  });
});

interface Answer {
  readonly text: string;
  readonly calls: readonly unknown[];
}

/** Fails unless the message has the texts and calls of the answers that stand, in order. */
async function foldsToAnswers(scene: Scene): Promise<void> {
  let answers: (Answer & { readonly index: number })[] = [];
  let hasEnded = false;
  const isHeld = holdsText(scene);
  async function* events() {
    for await (const event of chainOf(scene).spec.stream().events()) {
      if (event.type === 'retract')
        answers = answers.filter(({ index }) => index < event.iteration);
      if (event.type === 'iteration' || event.type === 'response') {
        const { response } = event;
        hasEnded = event.type === 'response';
        const calls = callsOf(response.message).map(
          (each) => JSON.parse(each.arguments) as unknown,
        );
        const text = isHeld && !hasEnded ? '' : (response.text ?? '');
        answers.push({ index: event.type === 'iteration' ? event.index : Infinity, text, calls });
      }
      yield event;
    }
  }

  const response = await toUIMessageStreamResponse(events());

  if (response.status !== 200) {
    expect(hasEnded).to.equal(false);
    return;
  }
  const { chunks, message } = await readUIMessage(response);
  expect(chunks.at(-1)?.type).to.equal(hasEnded ? 'finish' : 'error');
  if (!hasEnded) return;
  const expected = answers.map(({ text, calls }) => ({ text, calls }));
  expect(answersIn(message)).to.deep.equal(expected.filter(isShown));
}

const isShown = ({ text, calls }: Answer): boolean => text !== '' || calls.length > 0;

function answersIn({ parts }: UIMessage): readonly Answer[] {
  const answers = [{ text: '', calls: [] as unknown[] }];
  for (const part of visibleParts(parts)) {
    if (part.type === 'step-start') answers.push({ text: '', calls: [] });
    const answer = answers.at(-1);
    if (part.type === 'text' && answer) answer.text += part.text;
    if ('toolCallId' in part) {
      expect(part.state).to.be.oneOf(['output-available', 'output-error']);
      answer?.calls.push(part.input ?? ('rawInput' in part ? part.rawInput : undefined));
    }
  }
  return answers.filter(isShown);
}
