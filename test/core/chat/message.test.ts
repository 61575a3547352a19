import { expect } from 'chai';
import fc from 'fast-check';
import { checkMessage, textOf, type Message } from '../../../src/core/chat/message.js';
import { describe as describeValue } from '../../../src/core/errors/describe.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { ChatClient } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { sweep } from '../../support/sweep.js';

describe('checkMessage', () => {
  const good: readonly Message[] = [
    { role: 'system', content: '' },
    { role: 'user', content: '' },
    { role: 'user', content: [] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'x' },
        { type: 'image', url: 'https://example.org/a.png' },
      ],
    },
    { role: 'user', content: [{ type: 'audio', data: new Uint8Array(1), mediaType: 'audio/wav' }] },
    {
      role: 'user',
      content: [{ type: 'file', data: 'AAAA', mediaType: 'application/pdf', name: 'a.pdf' }],
    },
    { role: 'user', content: [{ type: 'raw', value: undefined }] },
    { role: 'assistant', content: null, toolCalls: [{ id: '', name: 'f', arguments: '{' }] },
    { role: 'tool', toolCallId: 'a', toolName: '', content: 'x', isError: true },
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: undefined, name: 'f', arguments: '{}' }],
    } as unknown as Message,
    { role: 'tool', toolCallId: undefined, toolName: 'f', content: 'x' } as unknown as Message,
  ];

  for (const message of good) {
    it(`accepts ${JSON.stringify(message)}`, () => {
      expect(() => checkMessage(message, 'here')).not.to.throw();
    });
  }

  const bad: readonly (readonly [unknown, string])[] = [
    [null, 'a message must be an object with a role, not null'],
    ['hi', 'a message must be an object with a role, not "hi"'],
    [
      [{ role: 'user', content: 'x' }],
      'a message must be an object with a role, not an array of 1',
    ],
    [{}, 'unknown role undefined; it is one of system, user, assistant, tool'],
    [{ role: 'developer' }, 'unknown role "developer"; it is one of system, user, assistant, tool'],
    [
      { role: 'system', text: 'x' },
      'a system message needs `content`, a string or an array of parts',
    ],
    [{ role: 'user' }, 'a user message needs `content`, a string or an array of parts'],
    [
      { role: 'user', content: [null] },
      'content[0] has unknown type undefined; it is one of text, image, audio, file, raw (calls: `toolCalls`, results: a message of the role tool)',
    ],
    [{ role: 'user', content: [{ type: 'text' }] }, 'content[0] needs `text`, a string'],
    [
      { role: 'user', content: [{ type: 'text', text: '' }, { type: 'video' }] },
      'content[1] has unknown type "video"',
    ],
    [{ role: 'user', content: [{ type: 'image' }] }, 'content[0] needs `url`, a string, or `data`'],
    [
      { role: 'user', content: [{ type: 'image', data: 'AAAA' }] },
      'content[0] with `data` needs `mediaType`, such as "image/png"',
    ],
    [
      { role: 'user', content: [{ type: 'image', data: [1], mediaType: 'image/png' }] },
      'content[0] needs `data` as base64 text or bytes',
    ],
    [{ role: 'user', content: [{ type: 'raw' }] }, 'content[0] needs `value`'],
    [
      { role: 'assistant' },
      'an assistant message needs `content`, a string or an array of parts, or null',
    ],
    [
      { role: 'assistant', content: '', toolCalls: {} },
      '`toolCalls` must be an array, not an object',
    ],
    [
      { role: 'assistant', content: [{ type: 'image', url: 'https://a.b/c.png' }] },
      'an assistant message has text alone, no part of type "image"',
    ],
    [
      { role: 'assistant', content: '', toolCalls: [null] },
      'toolCalls[0] needs `id`, `name` and `arguments` (JSON text), all strings',
    ],
    [
      { role: 'assistant', content: '', toolCalls: [{ name: 'f', arguments: '{}' }] },
      'toolCalls[0] needs `id`',
    ],
    [
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'f', arguments: {} }] },
      'toolCalls[0] needs `id`',
    ],
    [
      { role: 'tool', toolName: 'f', content: '' },
      'a tool message needs `toolCallId`, the id of the call it answers',
    ],
    [
      { role: 'tool', toolCallId: 'a', content: '' },
      'a tool message needs `toolName`, the name of the tool that ran',
    ],
    [
      { role: 'tool', toolCallId: 'a', toolName: 'f' },
      'a tool message needs `content`, a string or an array of parts',
    ],
  ];

  it('[D29] rejects metadata that is no object', () => {
    for (const metadata of [null, 'a', ['a']] as never[])
      for (const message of good)
        expect(() => checkMessage({ ...message, metadata }, 'here')).to.throw(
          InvalidArgumentError,
          'here: `metadata` of a message must be an object, not ',
        );
  });

  for (const [value, problem] of bad) {
    it(`rejects ${JSON.stringify(value)} with place and reason`, () => {
      expect(() => checkMessage(value as Message, 'here')).to.throw(
        InvalidArgumentError,
        `here: ${problem}`,
      );
    });
  }
});

describe('a message of another library', () => {
  it('has text parts, which become its text', async () => {
    const content = [
      { type: 'text', text: 'Be ' },
      { type: 'text', text: 'brief.' },
    ] as const;
    const model = new ScriptedChatModel(['ok']);
    const messages = [
      { role: 'system', content },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content },
      { role: 'user', content },
    ] as const;

    await ChatClient.create(model).prompt().messages(messages).call().content();

    expect(model.prompts[0]?.messages).to.deep.equal([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Be brief.' },
      { role: 'user', content },
    ]);
    expect(messages.map(textOf)).to.deep.equal(['Be brief.', 'Hello', 'Be brief.', 'Be brief.']);
  });
});

describe('textOf', () => {
  it('joins the text parts and skips media', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'image', url: 'x' },
      { type: 'text', text: 'b' },
    ] as const;

    expect(textOf(content)).to.equal('ab');
    expect(textOf('plain')).to.equal('plain');
  });
});

describe('describe', () => {
  it('returns a short text for any value and never throws', () => {
    const property = fc.property(
      fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }),
      (value) => {
        expect(describeValue(value)).to.be.a('string').with.length.below(500);
      },
    );

    fc.assert(property, { numRuns: sweep(1_000) });
  });

  it('hides the content of objects and truncates texts', () => {
    const secret = { apiKey: 'sk-secret', toString: () => 'sk-secret' };

    expect(describeValue(secret)).to.equal('an object');
    expect(describeValue([secret, secret])).to.equal('an array of 2');
    expect(describeValue(() => secret)).to.equal('a function');
    expect(describeValue(Symbol('s'))).to.equal('Symbol(s)');
    expect(describeValue('x'.repeat(100))).to.equal(`"${'x'.repeat(60)}…"`);
  });
});
