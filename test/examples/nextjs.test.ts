import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Below node_modules, where Node.js finds the packages of the project. */
const bundled = join(root, `node_modules/.cache/advisor-chain/nextjs-${process.pid}.mjs`);

const read = (path: string) =>
  JSON.parse(readFileSync(join(root, path), 'utf8')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  >;

type Handler = (request: Request) => Promise<Response>;

describe('examples/apps/nextjs', () => {
  let POST: Handler;
  const { OPENAI_API_KEY: key } = process.env;

  // bundled as Next.js does; the package itself is too large to be installed for it
  before(async function () {
    this.timeout(60_000);
    await build({
      entryPoints: [join(root, 'examples/apps/nextjs/app/api/chat/route.ts')],
      outfile: bundled,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      packages: 'external',
      tsconfig: join(root, 'examples/apps/tsconfig.json'),
      logLevel: 'error',
    });
    delete process.env['OPENAI_API_KEY']; // the offline model
    const route = (await import(pathToFileURL(bundled).href)) as { readonly POST: Handler };
    POST = route.POST;
  });
  after(() => {
    if (key !== undefined) process.env['OPENAI_API_KEY'] = key;
    rmSync(bundled, { force: true });
  });

  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    POST(
      new Request('http://127.0.0.1/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );
  const user = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] });

  it('answers a message by a stream, in the conversation of its cookie', async () => {
    const response = await post({ messages: [user('What is the weather in Rome?')] });

    expect(response.headers.get('x-vercel-ai-ui-message-stream')).to.equal('v1');
    expect(await response.text()).to.match(
      /"tool-output-available".*"output":"Rome: today sunny.*"type":"text-delta".*"type":"finish"/s,
    );
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).to.match(/^conversation=[\w-]{36}; Path=\/; HttpOnly; SameSite=Strict$/);
    const [own = ''] = cookie.split(';');
    const next = await post({ messages: [user('Thanks.')] }, { cookie: own });
    expect(next.headers.get('set-cookie')).to.equal(cookie);
    await next.body?.cancel();
  });

  it('refuses what is no message by 400', async () => {
    const response = await post({ messages: [{ role: 'system', parts: [] }] });

    expect(response.status).to.equal(400);
    expect(await response.json()).to.have.nested.property('error.code', 'invalid_argument');
  });

  it('has a package of the versions that this repository tests', () => {
    const { devDependencies: tested } = read('package.json');
    const { dependencies } = read('examples/apps/nextjs/package.json');

    const { next: _next, 'advisor-chain': _own, ...others } = dependencies;
    expect(tested).to.include(others);
  });
});
