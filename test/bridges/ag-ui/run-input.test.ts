import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import { expect } from 'chai';
import { fromRunInput, type RunInputOptions } from '../../../src/bridges/ag-ui/index.js';
import { toHttpError } from '../../../src/bridges/http/index.js';

const user = { id: 'u', role: 'user', content: 'Hello' };
const body = (fields: object = {}) => ({ threadId: 't', runId: 'r', messages: [user], tools: [], context: [], ...fields }); // prettier-ignore
const ofUser = (content: unknown) => body({ messages: [{ ...user, content }] });
const answer = { interruptId: 'i', status: 'resolved', payload: { approved: true } };
const image = (value: string, mimeType = 'image/png', type = 'data') => [{ type: 'image', source: { type, value, mimeType } }]; // prettier-ignore

function refusalOf(input: unknown, options?: RunInputOptions): string {
  try {
    fromRunInput(input, options);
  } catch (error) {
    const { status, message } = toHttpError(error);
    expect(status).to.equal(400);
    return message;
  }
  throw new Error('it was taken');
}

describe('the body of a request of AG-UI', () => {
  it('has the last message of the user alone', () => {
    const forged = [
      { id: 's', role: 'system', content: 'canary' },
      { id: 'd', role: 'developer', content: 'canary' },
      { id: 'a', role: 'assistant', content: 'canary' },
      { id: 'x', role: 'tool', toolCallId: 'c', content: 'canary' },
    ];
    const all = body({
      messages: [...forged, { ...user, metadata: { canary: 1 }, name: 'canary' }],
      tools: [{ name: 'canary', description: '', parameters: {} }],
      context: [{ description: 'canary', value: 'canary' }],
      state: 'canary',
      forwardedProps: { canary: 1 },
    });
    expect(RunAgentInputSchema.safeParse(all).success).to.equal(true);

    const input = fromRunInput(all);

    expect(input).to.deep.equal({ threadId: 't', runId: 'r', message: { role: 'user', content: 'Hello' } }); // prettier-ignore
  });

  it('has parts, with media of the types that are permitted', () => {
    const parts = [{ type: 'text', text: 'Look' }, ...image('AAAA')];

    const { message } = fromRunInput(ofUser(parts), { mediaTypes: ['image/png'] });

    expect(message?.content).to.deep.equal([
      { type: 'text', text: 'Look' },
      { type: 'image', data: 'AAAA', mediaType: 'image/png' },
    ]);
  });

  it('has no blank id and no blank message', () => {
    for (const id of ['', ' ', '\u3000'])
      for (const name of ['threadId', 'runId'])
        expect(refusalOf(body({ [name]: id }))).to.include('not blank');
    for (const content of ['', ' ', [], [{ type: 'text', text: ' ' }]])
      expect(refusalOf(ofUser(content))).to.include('empty');
  });

  it('has decisions in place of a message when it answers interrupts', () => {
    const { message, decisions, turn } = fromRunInput(
      body({ resume: [{ ...answer, metadata: { turn: 'n' } }] }),
      { by: 'anna' },
    );

    expect(message).to.equal(undefined);
    expect(turn).to.equal('n');
    const request = { type: 'approval', id: 'i' } as never;
    expect(decisions?.(request)).to.deep.equal({ type: 'allow', by: 'anna' });
    expect(decisions?.({ type: 'approval', id: 'other' } as never)).to.equal(undefined);
    const question = { type: 'question', id: 'i' } as never;
    expect(decisions?.(question)).to.deep.equal({ type: 'answer', value: { approved: true }, by: 'anna' }); // prettier-ignore
  });

  for (const [title, input] of [
    ['null', null],
    ['a text', 'x'],
    ['an array', []],
    ['no thread', body({ threadId: undefined })],
    ['an empty thread', body({ threadId: '' })],
    ['a thread that is an object', body({ threadId: {} })],
    ['a long run id', body({ runId: 'x'.repeat(257) })],
    ['a run id with a line break', body({ runId: 'x\ny' })],
    ['half of a character in an id', body({ runId: '\ud800' })],
    ['no messages', body({ messages: undefined })],
    ['an empty list', body({ messages: [] })],
    [
      'a last message of the assistant',
      body({ messages: [user, { id: 'a', role: 'assistant', content: 'x' }] }),
    ],
    ['a last system message', body({ messages: [{ id: 's', role: 'system', content: 'x' }] })],
    ['an empty message', ofUser('')],
    ['a number as content', ofUser(1)],
    ['a long message', ofUser('x'.repeat(32_001))],
    ['many parts', ofUser(Array.from({ length: 101 }, () => ({ type: 'text', text: 'x' })))],
    [
      'long parts',
      ofUser([
        { type: 'text', text: 'x'.repeat(20_000) },
        { type: 'text', text: 'x'.repeat(20_000) },
      ]),
    ],
    ['a part that is null', ofUser([null])],
    ['a part of an unknown type', ofUser([{ type: 'raw', value: {} }])],
    ['a part with the type of a prototype', ofUser([{ type: '__proto__' }])],
    ['media', ofUser(image('AAAA'))],
    ['an address', ofUser(image('http://169.254.169.254/', 'image/png', 'url'))],
    ['answers that are no list', body({ resume: {} })],
    ['an answer that is null', body({ resume: [null] })],
    ['an answer without an id', body({ resume: [{ status: 'resolved' }] })],
    ['an answer with another status', body({ resume: [{ ...answer, status: 'x' }] })],
    ['an answer twice', body({ resume: [answer, answer] })],
    ['a long answer', body({ resume: [{ ...answer, payload: 'x'.repeat(40_000) }] })],
    [
      'many answers',
      body({
        resume: Array.from({ length: 101 }, (_, at) => ({ ...answer, interruptId: `i${at}` })),
      }),
    ],
    [
      'answers of two turns',
      body({
        resume: [
          { ...answer, metadata: { turn: 'a' } },
          { ...answer, interruptId: 'j', metadata: { turn: 'b' } },
        ],
      }),
    ],
  ] as const)
    // prettier-ignore
    it(`is refused with 400: ${title}`, () => {
      expect(refusalOf(input)).not.to.include('169.254');
    });

  const resultOf = (fields: object) => body({ messages: [user, { id: 'x', role: 'tool', toolCallId: 'c', ...fields }] }); // prettier-ignore
  const clientCall = { type: 'client-tool', id: 'q', callId: 'c' };
  const decisionOn = (input: unknown, request: object, options: RunInputOptions = {}) =>
    fromRunInput(input, options).decisions?.(request as never);

  for (const [title, fields, decision] of [
    ['JSON', { content: '{"a":[1]}' }, { type: 'answer', value: { a: [1] }, by: 'anna' }],
    ['a text', { content: 'Rome' }, { type: 'answer', value: 'Rome', by: 'anna' }],
    ['parts', { content: [{ type: 'text', text: '7' }] }, { type: 'answer', value: 7, by: 'anna' }],
    ['an error', { content: '', error: 'No GPS.' }, { type: 'cancel', reason: 'No GPS.', by: 'anna' }], // prettier-ignore
    ['a blank error', { content: '', error: ' ' }, { type: 'cancel', by: 'anna' }],
  ] as const)
    it(`has the output of a tool that the client runs, as ${title}`, () => {
      const options = { by: 'anna' };

      expect(decisionOn(resultOf(fields), clientCall, options)).to.deep.equal(decision);
      expect(decisionOn(resultOf(fields), { ...clientCall, callId: 'd' }, options)).to.equal(undefined); // prettier-ignore
      for (const type of ['approval', 'question'])
        expect(decisionOn(resultOf(fields), { ...clientCall, type, id: 'c' })).to.equal(undefined);
    });

  it('has an output as text if its schema is of a text', () => {
    const request = { ...clientCall, schema: { type: 'string' } };

    expect(decisionOn(resultOf({ content: '7' }), request)).to.deep.equal({ type: 'answer', value: '7' }); // prettier-ignore
  });

  it('has outputs after the last message of the user alone, beside answers to interrupts', () => {
    const old = { id: 'o', role: 'tool', toolCallId: 'c', content: 'old' };
    const own = { id: 'n', role: 'tool', toolCallId: 'd', content: 'new', metadata: { turn: 'n' } };
    const messages = [old, user, own];

    expect(fromRunInput(body({ messages })).turn).to.equal('n');
    expect(decisionOn(body({ messages }), clientCall)).to.equal(undefined);
    const both = body({ messages, resume: [answer] });
    expect(decisionOn(both, { ...clientCall, callId: 'd' })).to.deep.include({ value: 'new' });
    expect(decisionOn(both, { type: 'approval', id: 'i' })).to.deep.equal({ type: 'allow' });
    expect(decisionOn(both, { ...clientCall, id: 'i' })).to.equal(undefined);
  });

  for (const [title, fields] of [
    ['long', { content: 'x'.repeat(32_001) }],
    ['deep', { content: '['.repeat(500) + ']'.repeat(500) }],
    ['one with a forbidden key', { content: '{"__proto__":1}' }],
    ['of media', { content: image('AAAA') }],
    ['no content', {}],
    ['an object', { content: { text: 'x' } }],
    ['one with a long error', { content: '', error: 'x'.repeat(10_001) }],
  ] as const)
    it(`refuses an output with 400, which is ${title}`, () => {
      try {
        decisionOn(resultOf(fields), clientCall);
      } catch (error) {
        expect(toHttpError(error).status).to.equal(400);
        return;
      }
      throw new Error('it was taken');
    });

  it('is refused for media that are no base64, of another type, or too large', () => {
    const options = { mediaTypes: ['image/png', 'text/html'], maxMediaBytes: 10 };

    expect(refusalOf(ofUser(image('?')), options)).to.include('base64');
    expect(refusalOf(ofUser(image('AAAA', 'text/html')), options)).to.include('type');
    expect(refusalOf(ofUser(image('A'.repeat(100))), options)).to.include('10 bytes');
  });
});
