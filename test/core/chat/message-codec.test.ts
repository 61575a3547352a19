import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeMessage,
  encodeMessage,
  InvalidArgumentError,
  JsonError,
  type Message,
  Prompt,
} from '../../../src/index.js';
import { everyKindOfMessage } from '../../../src/testing/memory-contract/samples.js';
import { fuzz } from '../../support/fuzz.js';

describe('encodeMessage and decodeMessage', () => {
  it('[F63] rejects a raw part without a value', () => {
    const message = {
      role: 'user',
      content: [{ type: 'raw', value: undefined }],
    } as unknown as Message;

    expect(() => encodeMessage(message)).to.throw(
      InvalidArgumentError,
      'message.content[0] is a raw part without a value',
    );
  });

  it('[F63] restores every kind of message', () => {
    for (const message of everyKindOfMessage())
      expect(decodeMessage(encodeMessage(message))).to.deep.equal(message);
  });

  it('reads messages of earlier versions, which had `text` and an empty list of calls', () => {
    const stored = [
      { role: 'system', text: 's' },
      { role: 'assistant', text: null, toolCalls: [{ id: 'a', name: 'b', arguments: '{}' }] },
      { role: 'assistant', text: 'Hi.', toolCalls: [] },
    ];

    const messages = new Prompt(stored.map((each) => decodeMessage(JSON.stringify(each)))).messages;

    expect(messages).to.deep.equal([
      { role: 'system', content: 's' },
      { role: 'assistant', content: null, toolCalls: [{ id: 'a', name: 'b', arguments: '{}' }] },
      { role: 'assistant', content: 'Hi.' },
    ]);
  });

  it('[F63] restores calls and results without ids, and media without a URL', () => {
    const messages = [
      {
        role: 'assistant',
        content: null,
        toolCalls: [{ id: undefined, name: 'a', arguments: '{}' }],
      },
      { role: 'tool', toolCallId: undefined, toolName: 'a', content: 'x' },
      { role: 'user', content: [{ type: 'image', url: undefined }] },
    ] as unknown as readonly Message[];

    for (const message of messages)
      expect(decodeMessage(encodeMessage(message))).to.deep.equal(message);
  });

  it('[F63] restores any JSON metadata (2000 cases)', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (metadata) => {
        fc.pre(
          !JSON.stringify(metadata).includes('"__proto__"') &&
            !/:-0\b|"prototype"/.test(JSON.stringify(metadata)),
        );
        fc.pre(!hasNegativeZero(metadata));
        const message: Message = { role: 'user', content: 'x', metadata: { ...metadata } };

        expect(JSON.stringify(decodeMessage(encodeMessage(message)))).to.equal(
          JSON.stringify(message),
        );
      }),
      fuzz('message-codec', 40_000),
    );
  });

  it('names the path of a value that cannot be stored', () => {
    const metadata = { list: [1, { at: new Date(0) }] };

    expect(() => encodeMessage({ role: 'user', content: 'x', metadata })).to.throw(
      InvalidArgumentError,
      'chat memory: message.metadata.list[1].at is an object, which JSON cannot hold; store plain JSON',
    );
  });

  it('rejects bytes outside the data of a part', () => {
    const data = new Uint8Array([1]);

    for (const message of [
      { role: 'user', content: 'x', metadata: { data } },
      { role: 'user', content: [{ type: 'raw', value: { data } }] },
      { role: 'user', content: 'x', metadata: { content: [{ data }] } },
    ] as const)
      expect(() => encodeMessage(message)).to.throw(InvalidArgumentError, 'which JSON cannot hold');
  });

  it('rejects holes in arrays', () => {
    const list: number[] = [];
    list.length = 2;

    expect(() => encodeMessage({ role: 'user', content: 'x', metadata: { list } })).to.throw(
      InvalidArgumentError,
      'message.metadata.list[0] is undefined',
    );
  });

  it('rejects nesting that could not be decoded', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 195; depth++) value = [value];

    expect(() => encodeMessage({ role: 'user', content: 'x', metadata: { value } })).to.throw(
      InvalidArgumentError,
      'nested deeper than',
    );
  });

  const payloads: readonly [name: string, text: string, error: unknown][] = [
    [
      'a type tag of another library',
      '{"lc":1,"type":"constructor","id":["langchain","llms"],"kwargs":{}}',
      InvalidArgumentError,
    ],
    ['a secret of the environment', '{"lc":1,"type":"secret","id":["HOME"]}', InvalidArgumentError],
    ['a prototype', '{"role":"user","content":"x","__proto__":{"polluted":true}}', JsonError],
    [
      'a prototype of a constructor',
      '{"role":"user","content":"x","metadata":{"constructor":{"prototype":{"polluted":1}}}}',
      JsonError,
    ],
    [
      'deep nesting',
      `{"role":"user","content":"x","metadata":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
      JsonError,
    ],
    ['a duplicate key', '{"role":"user","role":"system","content":"x","text":"y"}', JsonError],
    ['an unknown role', '{"role":"developer","text":"x"}', InvalidArgumentError],
    ['a message without its text', '{"role":"assistant","toolCalls":[]}', InvalidArgumentError],
    ['null', 'null', InvalidArgumentError],
    ['invalid JSON', '{"role":', JsonError],
  ];
  for (const [name, text, error] of payloads)
    it(`[F70] rejects ${name}`, () => {
      expect(() => decodeMessage(text)).to.throw(error as typeof InvalidArgumentError);
      expect(Object.hasOwn(Object.prototype, 'polluted')).to.equal(false);
    });

  it('[F70] keeps extra keys as plain data', () => {
    const text =
      '{"role":"user","content":"x","$type":"Date","toJSON":"y","metadata":{"lc":1,"type":"constructor"}}';
    const message = decodeMessage(text);

    expect(JSON.parse(JSON.stringify({ ...message, toJSON: undefined }))).to.deep.equal({
      role: 'user',
      content: 'x',
      $type: 'Date',
      metadata: { lc: 1, type: 'constructor' },
    });
    expect(Object.getPrototypeOf(message)).to.equal(Object.prototype);
  });
});

function hasNegativeZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some(hasNegativeZero);
  return Object.is(value, -0);
}
