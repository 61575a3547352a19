import { expect } from 'chai';
import { serveOpenAI } from '../../../src/bridges/serve/index.js';
import { ChatClient, defineTool } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

const user = { role: 'user', content: 'Q' };
const valid = { model: 'chat', messages: [user] };
const call = (fields: object) => ({
  id: 'c',
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...fields,
});
const wrongTexts = [1, true, [], {}, [[]], [{}], [null]];
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const tool = (fields: object) => ({ type: 'function', function: { name: 'f', ...fields } });
const wrongOf: Readonly<Record<string, readonly unknown[]>> = {
  model: [...wrongTexts, '', ' ', null, 'x'.repeat(257)],
  messages: [1, 'x', {}, [], null, [null], [1], [[]], Array.from({ length: 11 }, () => user)],
  temperature: ['1', -1, 3, [], {}],
  top_p: ['1', -0.1, 1.1, {}],
  frequency_penalty: ['x', 3],
  presence_penalty: ['x', -3],
  max_tokens: [0, -1, 1.5, '1', 1e300],
  max_completion_tokens: [0, 1.5, '1'],
  stop: [1, {}, [1], Array(17).fill('x')],
  seed: ['x', 1.5],
  n: [0, 2, 'x'],
  stream: ['true', 1, {}],
  logprobs: [true, 1],
  parallel_tool_calls: ['x', 1],
  reasoning_effort: [1, '', 'x'.repeat(33)],
  user: [1, {}, 'x'.repeat(513)],
  metadata: [
    'x',
    { a: 1 },
    Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])),
  ],
  functions: [[]],
  function_call: ['auto'],
  audio: [{}],
  tool_choice: [
    'any',
    1,
    {},
    { type: 'function' },
    { type: 'function', function: { name: 'f' } },
    { type: 'allowed_tools' },
  ],
  response_format: [
    'json',
    {},
    { type: 'xml' },
    { type: 'json_schema' },
    { type: 'json_schema', json_schema: { name: 'x' } },
    { type: 'json_schema', json_schema: { name: 'a b', schema: {} } },
    { type: 'json_schema', json_schema: { name: 'x', schema: 'x' } },
  ],
  tools: [
    1,
    {},
    [null],
    [{}],
    [{ type: 'custom' }],
    [tool({ name: '' })],
    [tool({ name: 'a b' })],
    [tool({ name: 'x'.repeat(65) })],
    [tool({ parameters: 'x' })],
    [tool({ parameters: { type: 'array' } })],
    [tool({ description: 1 })],
    [tool({ strict: 'x' })],
    [tool({}), tool({})],
    Array.from({ length: 6 }, (_, at) => tool({ name: `f${at}` })),
    [tool({ name: 'own' })],
  ],
};
const wrongMessages: readonly unknown[] = [
  {},
  { role: 'root', content: 'x' },
  { role: 'function', name: 'f', content: 'x' },
  ...['system', 'developer', 'user', 'tool'].flatMap((role) => [
    { role },
    { role, content: null },
    ...wrongTexts
      .filter((value) => JSON.stringify(value) !== '[]')
      .map((content) => ({ role, content })),
  ]),
  { role: 'assistant' },
  { role: 'assistant', content: 1 },
  { role: 'assistant', content: [{ type: 'image_url', image_url: { url: 'https://a.example' } }] },
  { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a.example' } }] },
  ...[
    1,
    {},
    [null],
    [{}],
    [call({ id: '' })],
    [call({ id: 1 })],
    [call({ id: 'x'.repeat(513) })],
    [call({ type: 'custom' })],
    [call({ function: {} })],
    [call({ function: { name: 'f' } })],
    [call({ function: { name: 'f', arguments: {} } })],
    [call({ function: { name: '../f', arguments: '{}' } })],
  ].map((tool_calls) => ({ role: 'assistant', content: null, tool_calls })),
  { role: 'tool', tool_call_id: 'unknown', content: 'x' },
  { role: 'tool', tool_call_id: '__proto__', content: 'x' },
  { role: 'tool', tool_call_id: 1, content: 'x' },
  { role: 'tool', content: 'x' },
  ...['text', 'image_url', 'input_audio', 'file', 'raw', 'video', '__proto__', 1].flatMap((type) =>
    [{}, { [String(type)]: 1 }, { [String(type)]: {} }, { [String(type)]: null }].map((fields) => ({
      role: 'user',
      content: [{ type, ...fields }],
    })),
  ),
  ...['file:///etc/passwd', 'ftp://a', 'javascript:1', '/etc/passwd', 'http:/x', ''].map((url) => ({
    role: 'user',
    content: [{ type: 'image_url', image_url: { url } }],
  })),
  {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'data:text/html;base64,QQ==' } }],
  },
  {
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,%%%' } }],
  },
  { role: 'user', content: [{ type: 'input_audio', input_audio: { data: '%%%', format: 'wav' } }] },
  {
    role: 'user',
    content: [{ type: 'input_audio', input_audio: { data: 'QUJD', format: 'a\r\nb' } }],
  },
  { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] },
  { role: 'user', content: [{ type: 'file', file: { file_data: 'https://a.example' } }] },
];
const rawBodies: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  '',
  ' ',
  'x',
  '{',
  '[]',
  'null',
  '1',
  '"x"',
  'true',
  '{"model":"chat"',
  '{"model":"chat",}',
  "{'model':1}",
  'undefined',
  'NaN',
  '{"messages":NaN}',
  '\u0000',
  '{"model":"chat","messages":[]}\u0000',
  '<xml/>',
  'model=chat',
  '--b\r\ncontent-disposition: form-data\r\n\r\nx',
  new Uint8Array([0xff, 0xfe, 0x7b]),
  new Uint8Array([0x7b, 0x22, 0xc3, 0x28]),
  new Uint8Array([0x1f, 0x8b, 0x08]),
  deep(10),
  deep(1_000),
  deep(4_000),
  `{"model":"chat","messages":${deep(70)}}`,
  `{"model":"chat","messages":[{"role":"user","content":"x"}],"x":${deep(2_000)}}`,
  '{"__proto__":{"model":"chat"}}',
  '{"model":"chat","messages":[{"role":"user","content":"x","__proto__":{}}]}',
  '{"model":"chat","messages":[{"role":"user","content":"x"}],"metadata":{"__proto__":"x"}}',
];

describe('malformed and oversized requests to an OpenAI endpoint', () => {
  const model = new ScriptedChatModel(() => 'answer');
  const own = defineTool({ name: 'own', description: 'secret canary', execute: () => 'x' });
  const client = ChatClient.builder(model).defaultTools(own).build();
  const serveKeyed = serveOpenAI({
    authorize: (key) => key === 'k',
    clients: { chat: client },
    maxBodyBytes: 20_000,
    maxMessages: 10,
    maxTools: 5,
  });
  const answer = (request: Request): Promise<Response> => {
    request.headers.set('authorization', 'Bearer k');
    return serveKeyed(request);
  };
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Response> =>
    answer(new Request('http://localhost/v1/chat/completions', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })); // prettier-ignore

  async function expectRefused(response: Response, status: number, what: string): Promise<void> {
    const text = await response.text();
    expect(response.status, `${what}: ${text}`).to.equal(status);
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    expect(error, what).to.include({ type: 'invalid_request_error', param: null });
    expect(text, what).to.not.match(/canary|node:|\/src\/|at \w+ \(/);
  }

  it('are refused by 400, more than 200 of them, and no model is called', async () => {
    const bodies = [
      ...rawBodies,
      ...Object.entries(wrongOf).flatMap(([name, values]) =>
        values.map((value) => JSON.stringify({ ...valid, [name]: value })),
      ),
      ...wrongMessages.map((message) => JSON.stringify({ ...valid, messages: [user, message] })),
    ];
    expect(bodies.length).to.be.greaterThan(200);

    for (const body of bodies)
      await expectRefused(await post(body), 400, String(body).slice(0, 200));

    expect(model.prompts).to.deep.equal([]);
  });

  it('are refused by 413 at the limit of bytes, also without a length', async () => {
    const body = JSON.stringify({ ...valid, user: 'ü'.repeat(10_000) });
    await expectRefused(await post(body), 413, 'long');
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(1_000).fill(0x20));
      },
    });
    const init = {
      method: 'POST',
      body: endless,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    };
    await expectRefused(await answer(new Request('http://localhost/v1/chat/completions', init as RequestInit)), 413, 'endless'); // prettier-ignore
    expect(pulled).to.be.lessThan(30);
  });

  it('are refused with other content types, methods and paths', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonp',
    ])
      await expectRefused(await post(JSON.stringify(valid), { 'content-type': type }), 400, type);
    for (const [method, path, status] of [
      ['GET', '/v1/chat/completions', 405],
      ['POST', '/v1/models', 405],
      ['GET', '/v1/models/unknown', 404],
      ['GET', '/v1/models/%E0%A4%A', 400],
      ['GET', '/v1/models/__proto__', 404],
      ['GET', '/v1/modelsx', 404],
      ['GET', '/', 404],
      ['POST', '/v1/responses', 404],
    ] as const)
      await expectRefused(
        await answer(new Request(`http://localhost${path}`, { method })),
        status,
        path,
      );
  });

  it('are refused if a call of their history has no result, or two', async () => {
    const asks = (...ids: readonly string[]) => ({
      role: 'assistant',
      content: null,
      tool_calls: ids.map((id) => call({ id, function: { name: 'own', arguments: '{}' } })),
    });
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' });
    for (const history of [
      [asks('c')],
      [asks('c'), user],
      [asks('c', 'd'), result('c'), user],
      [asks('c', 'c'), result('c'), result('c')],
      [asks('c'), result('c'), result('c')],
      [asks('c'), result('c'), user, result('c')],
      [result('c'), asks('c')],
    ]) {
      const body = JSON.stringify({ ...valid, messages: [user, ...history] });
      await expectRefused(await post(body), 400, body);
    }
  });
});
