import { expect } from 'chai';
import { InvalidArgumentError, type ContentPart, type Message } from '../../../src/index.js';
import type { JsonObject } from '../../../src/core/internal/options.js';
import { toConversation } from '../../../src/models/anthropic/messages.js';

const onWire = (...messages: readonly Message[]): JsonObject =>
  JSON.parse(JSON.stringify(toConversation(messages))) as JsonObject;
const blocksOf = (...content: readonly ContentPart[]): unknown => {
  const [message] = onWire({ role: 'user', content })['messages'] as readonly JsonObject[];
  return message?.['content'];
};
const text = (value: string): JsonObject => ({ type: 'text', text: value });
const system = (value: string): Message => ({ role: 'system', content: value });
const user = (content: string): Message => ({ role: 'user', content });
const answer = (value: string | null, ...calls: readonly string[]): Message => ({
  role: 'assistant',
  content: value,
  toolCalls: calls.map((id) => ({ id, name: 'f', arguments: '{"a":1}' })),
});
const result = (
  id: string,
  content: string | readonly ContentPart[],
  isError?: boolean,
): Message => ({
  role: 'tool',
  toolCallId: id,
  toolName: 'f',
  content,
  ...(isError && { isError }),
});
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: { a: 1 } });

describe('system messages of the Messages API', () => {
  it('are a field of the request at the start', () => {
    expect(onWire(system('a'), user('b'))).to.deep.equal({
      system: 'a',
      messages: [{ role: 'user', content: [text('b')] }],
    });
    expect(onWire(system('a'), system('b'), system(' '), user('c'))['system']).to.deep.equal([
      text('a'),
      text('b'),
    ]);
  });

  it('are absent if they are blank', () => {
    expect(onWire(system('  '), user('b'))).to.not.have.property('system');
  });

  it('stand between the user and the answer later on, each group as one', () => {
    expect(
      onWire(user('a'), answer('b'), system('c'), user('d'), system('e'), answer('f'), user('g'), system('h'))['messages'],
    ).to.deep.equal([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      { role: 'user', content: [text('d')] },
      { role: 'system', content: [text('c'), text('e')] },
      { role: 'assistant', content: [text('f')] },
      { role: 'user', content: [text('g')] },
      { role: 'system', content: [text('h')] },
    ]); // prettier-ignore
  });
});

describe('messages of the Messages API', () => {
  it('of one role in a row are one, and those without content are left out', () => {
    expect(
      onWire(user('a'), answer(null), user('b'), user(' '), answer('c'), answer(''), answer('d'))[
        'messages'
      ],
    ).to.deep.equal([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
    ]);
  });

  it('have the results of a batch first, then what follows', () => {
    expect(
      onWire(user('a'), answer('b', 'x', 'y'), result('x', '1'), result('y', 'no', true), user('c'))['messages'],
    ).to.deep.equal([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b'), use('x'), use('y')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'x', content: '1' },
          { type: 'tool_result', tool_use_id: 'y', content: 'no', is_error: true },
          text('c'),
        ],
      },
    ]); // prettier-ignore
  });

  it('have media and raw parts in results', () => {
    const reference = { type: 'tool_reference', tool_name: 'g' };
    const { messages } = onWire(
      user('a'),
      answer(null, 'x'),
      result('x', [
        { type: 'text', text: 'see' },
        { type: 'image', data: 'QQ==', mediaType: 'image/png' },
        { type: 'raw', value: reference },
      ]),
    );

    expect((messages as readonly JsonObject[])[2]?.['content']).to.deep.equal([
      {
        type: 'tool_result',
        tool_use_id: 'x',
        content: [
          text('see'),
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QQ==' } },
          reference,
        ],
      },
    ]);
  });

  it('have the media of a result that is an error after the results', () => {
    const image = { type: 'image', url: 'https://x/a.png' } as const;
    const { messages } = onWire(
      user('a'),
      answer(null, 'x', 'y'),
      result('x', [{ type: 'text', text: 'failed' }, image], true),
      result('y', 'ok'),
    );

    expect((messages as readonly JsonObject[])[2]?.['content']).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'x', content: [text('failed')], is_error: true },
      { type: 'tool_result', tool_use_id: 'y', content: 'ok' },
      text('From the tool f:'),
      { type: 'image', source: { type: 'url', url: 'https://x/a.png' } },
    ]);
  });

  it('have results first, even if a text was put between them', () => {
    const { messages } = onWire(user('a'), answer(null, 'x', 'y'), result('x', '1'), user('b'), result('y', '2'));

    expect((messages as readonly JsonObject[])[2]?.['content']).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'x', content: '1' },
      { type: 'tool_result', tool_use_id: 'y', content: '2' },
      text('b'),
    ]);
  }); // prettier-ignore

  it('have every call, also those without ids of their own', () => {
    const calls = ['1', '2'].map((args) => ({ id: 'x', name: 'f', arguments: args }));
    const { messages } = onWire(user('a'), { role: 'assistant', content: null, toolCalls: calls });

    expect((messages as readonly JsonObject[])[1]?.['content']).to.have.lengthOf(2);
  });

  it('have ids that the API accepts, the same for a call and its result', () => {
    const { messages } = onWire(
      user('a'),
      answer(null, 'functions.f:0', 'functions.f:1', 'toolu_1'),
      result('functions.f:1', '1'),
      result('functions.f:0', '0'),
      result('toolu_1', '2'),
    );
    const [, calls, results] = messages as readonly { content: readonly Record<string, string>[] }[];

    const ids = calls?.content.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).to.equal(3);
    for (const id of ids) expect(id).to.match(/^[a-zA-Z0-9_-]+$/);
    expect(ids[2]).to.equal('toolu_1');
    expect(results?.content.map(({ tool_use_id: id }) => id)).to.deep.equal([ids[1], ids[0], ids[2]]);
  }); // prettier-ignore

  it('have a refusal of another provider as text', () => {
    expect(
      onWire(user('a'), { role: 'assistant', content: null, refusal: 'no' })['messages'],
    ).to.deep.include({ role: 'assistant', content: [text('no')] });
  });

  it('have arguments as an object, whatever the model wrote', () => {
    const calls = ['', ' ', '{"a": 1}', '{"a":', '[1]'].map((args, at) => ({
      id: `c${at}`,
      name: 'f',
      arguments: args,
    }));
    const { messages } = onWire(user('a'), { role: 'assistant', content: null, toolCalls: calls });
    const [, sent] = messages as readonly { content: readonly JsonObject[] }[];

    expect(sent?.content.map((block) => block['input'])).to.deep.equal([
      {},
      {},
      { a: 1 },
      { arguments: '{"a":' },
      { arguments: '[1]' },
    ]);
  });

  it('have the cache mark of their metadata on their last block', () => {
    const metadata = { anthropic: { cache_control: { type: 'ephemeral', ttl: '1h' } } };
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const sent = onWire(
      { role: 'system', content: 's', metadata },
      { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }], metadata },
      { role: 'assistant', content: 'c', toolCalls: [{ id: 'x', name: 'f', arguments: '{"a":1}' }], metadata },
      { role: 'tool', toolCallId: 'x', toolName: 'f', content: '1', metadata },
    ); // prettier-ignore

    expect(sent).to.deep.equal({
      system: [{ ...text('s'), ...mark }],
      messages: [
        { role: 'user', content: [text('a'), { ...text('b'), ...mark }] },
        { role: 'assistant', content: [text('c'), { ...use('x'), ...mark }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'x', content: '1', ...mark }],
        },
      ],
    });
  });
});

describe('parts of a message of the Messages API', () => {
  const bytes = new TextEncoder().encode('héllo');
  const base64 = Buffer.from(bytes).toString('base64');
  const png = { type: 'base64', media_type: 'image/png', data: 'QQ==' };
  const cases: readonly (readonly [title: string, part: ContentPart, source: JsonObject])[] = [
    ['an image by address', { type: 'image', url: 'https://x/a' }, { type: 'url', url: 'https://x/a' }],
    ['an image by content', { type: 'image', data: 'QQ==', mediaType: 'image/png' }, png],
    ['bytes', { type: 'image', data: new Uint8Array([65]), mediaType: 'image/png' }, png],
    ['a data URL', { type: 'image', url: 'data:image/png;base64,QQ==' }, png],
    ['the usual name of JPEG', { type: 'image', data: 'QQ==', mediaType: 'image/jpg' }, { ...png, media_type: 'image/jpeg' }],
    ['a text file as text', { type: 'file', data: base64, mediaType: 'text/csv; charset=utf-8' }, { type: 'text', media_type: 'text/plain', data: 'héllo' }],
    ['bytes of a text file', { type: 'file', data: bytes, mediaType: 'application/json' }, { type: 'text', media_type: 'text/plain', data: 'héllo' }],
    ['a data URL of a text', { type: 'file', url: 'data:text/plain,h%C3%A9llo' }, { type: 'text', media_type: 'text/plain', data: 'héllo' }],
    ['a PDF', { type: 'file', data: 'QQ==', mediaType: 'application/pdf' }, { ...png, media_type: 'application/pdf' }],
    ['a file by address', { type: 'file', url: 'https://x/a.pdf' }, { type: 'url', url: 'https://x/a.pdf' }],
  ]; // prettier-ignore
  for (const [title, part, source] of cases)
    it(`send ${title}`, () => {
      const type = part.type === 'image' ? 'image' : 'document';

      expect(blocksOf(part)).to.deep.equal([{ type, source }]);
    });

  it('send the name of a file as its title, and raw parts unchanged', () => {
    const raw = { type: 'container_upload', file_id: 'f' };

    expect(
      blocksOf(
        { type: 'file', url: 'https://x/a', name: 'a.pdf' },
        { type: 'raw', value: raw },
        { type: 'text', text: ' ' },
      ),
    ).to.deep.equal([
      { type: 'document', source: { type: 'url', url: 'https://x/a' }, title: 'a.pdf' },
      raw,
    ]);
  });

  it('refuse audio, and a text file that is not base64', () => {
    expect(() => blocksOf({ type: 'audio', url: 'https://x/a.mp3' }))
      .to.throw(InvalidArgumentError)
      .with.property('message')
      .that.matches(/takes no audio; send a transcript/);
    expect(() => blocksOf({ type: 'file', data: 'é', mediaType: 'text/plain' }))
      .to.throw(InvalidArgumentError)
      .with.property('message')
      .that.matches(/base64/);
  });
});
