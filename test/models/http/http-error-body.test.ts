import { expect } from 'chai';
import { HttpError } from '../../../src/models/http/http-error.js';

async function bodyOf(body: string, status = 400): Promise<unknown> {
  const headers = { 'x-request-id': 'r' };
  const error = await HttpError.from(new Response(body, { status, headers }));
  expect(error).to.include({ name: 'HttpError', status });
  expect(error.headers?.get('x-request-id')).to.equal('r');
  return error.body;
}

describe('HttpError.from', () => {
  const dialects: readonly (readonly [title: string, body: unknown, error: unknown])[] = [
    [
      'an error object',
      { error: { message: 'm', code: 'c' }, user_id: 'u' },
      { message: 'm', code: 'c' },
    ],
    ['an error text', { error: 'm' }, { error: 'm' }],
    ['an error text with a code', { error: 'm', code: 5 }, { error: 'm', code: 5 }],
    ['an error that is null', { error: null, message: 'm' }, { error: null, message: 'm' }],
    ['an error that is true', { error: true, message: 'm' }, { error: true, message: 'm' }],
    ['a detail (Mistral)', { detail: 'm' }, { detail: 'm' }],
    [
      'details in a list (FastAPI)',
      { detail: [{ loc: ['body'], msg: 'm' }] },
      { detail: [{ loc: ['body'], msg: 'm' }] },
    ],
    [
      'a message (Azure API management)',
      { statusCode: 401, message: 'm' },
      { statusCode: 401, message: 'm' },
    ],
    [
      'a list (Google)',
      [{ error: { message: 'm', code: 400, status: 'INVALID_ARGUMENT' } }],
      { message: 'm', code: 400, status: 'INVALID_ARGUMENT' },
    ],
    ['an empty list', [], null],
    ['a JSON text', 'm', 'm'],
  ];
  for (const [title, body, error] of dialects) {
    it(`reads ${title}`, async () => {
      expect(await bodyOf(JSON.stringify(body))).to.deep.equal(error);
    });
  }

  it('reads the text of an HTML page', async () => {
    const page =
      '<html><head><style>p { color: red }</style><title>502</title></head><body>\n<h1>Bad Gateway</h1>\n<script>x()</script></body></html>';

    expect(await bodyOf(page, 502)).to.equal('502 Bad Gateway');
  });

  it('keeps a plain text of any length, because it is truncated only after redaction', async () => {
    expect(await bodyOf('upstream connect error', 503)).to.equal('upstream connect error');
    expect(await bodyOf('x'.repeat(9_999), 503)).to.equal('x'.repeat(9_999));
  });
});
