import { expect } from 'chai';
import { withErrorBodies } from '../../../src/models/openai/error-bodies.js';

async function bodyOf(body: string, status = 400): Promise<unknown> {
  const send = withErrorBodies(() => Promise.resolve(new Response(body, { status, headers: { 'x-request-id': 'r' } })));
  const response = await send('http://127.0.0.1/');
  expect(response).to.include({ status });
  expect(response.headers.get('x-request-id')).to.equal('r');
  return response.json();
}

describe('withErrorBodies', () => {
  const dialects: readonly (readonly [title: string, body: unknown, error: unknown])[] = [
    ['an error object', { error: { message: 'm', code: 'c' }, user_id: 'u' }, { message: 'm', code: 'c' }],
    ['an error text', { error: 'm' }, { message: 'm' }],
    ['an error text with a code', { error: 'm', code: 5 }, { message: 'm', code: 5 }],
    ['an error that is null', { error: null, message: 'm' }, { message: 'm' }],
    ['an error that is true', { error: true, message: 'm' }, { message: 'm' }],
    ['a detail (Mistral)', { detail: 'm' }, { detail: 'm' }],
    ['details in a list (FastAPI)', { detail: [{ loc: ['body'], msg: 'm' }] }, { detail: [{ loc: ['body'], msg: 'm' }] }],
    ['a message (Azure API management)', { statusCode: 401, message: 'm' }, { statusCode: 401, message: 'm' }],
    [
      'a list (Google)',
      [{ error: { message: 'm', code: 400, status: 'INVALID_ARGUMENT' } }],
      { message: 'm', code: 400, status: 'INVALID_ARGUMENT' },
    ],
    ['an empty list', [], { message: '' }],
    ['a JSON text', 'm', { message: 'm' }],
  ];
  for (const [title, body, error] of dialects) {
    it(`puts ${title} under error`, async () => {
      expect(await bodyOf(JSON.stringify(body))).to.deep.equal({ error });
    });
  }

  it('takes the words of a page', async () => {
    const page =
      '<html><head><style>p { color: red }</style><title>502</title></head><body>\n<h1>Bad Gateway</h1>\n<script>x()</script></body></html>';

    expect(await bodyOf(page, 502)).to.deep.equal({ error: { message: '502 Bad Gateway' } });
  });

  it('takes a text as it is, however long: it can be cut only after keys are hidden', async () => {
    expect(await bodyOf('upstream connect error', 503)).to.deep.equal({ error: { message: 'upstream connect error' } });
    expect(await bodyOf('x'.repeat(9_999), 503)).to.deep.equal({ error: { message: 'x'.repeat(9_999) } });
  });

  it('leaves a good response alone', async () => {
    const response = new Response('{"detail":"x"}');

    expect(await withErrorBodies(() => Promise.resolve(response))('http://127.0.0.1/')).to.equal(response);
  });
});
