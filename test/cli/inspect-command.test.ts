import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommandLine } from '../support/command-line.js';
import { withoutVariable } from '../support/without-variable.js';

const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
const source = new URL('../../src/', import.meta.url).href;
const HEAD = `import { ChatClient } from '${source}index.js';
  import { OfflineChatModel } from '${source}testing/index.js';
  import { Inspector } from '${source}bridges/inspector/index.js';\n`;
const module = (name: string, text: string): void => writeFileSync(join(folder, name), HEAD + text);

/** Status and text of an address, read while the page is served. */
async function inspect(file: string, path: string): Promise<{ status: number; text: string }> {
  const interrupt = new AbortController();
  let reading: Promise<{ status: number; text: string }> | undefined;
  const onOutput = (output: string): void => {
    const [url] = /http:\S+/.exec(output) ?? [];
    if (url === undefined || reading) return;
    const address = new URL(url);
    const token = address.searchParams.get('token') ?? '';
    reading = read(`${address.origin}${path}`.replace('TOKEN', token));
    void reading.finally(() => interrupt.abort());
  };
  const options = { cwd: folder, signal: interrupt.signal, onOutput };
  const { code, out, err } = await runCommandLine(['inspect', file], options);
  expect([code, err]).to.deep.equal([130, `The inspector of ${file} is ready; Ctrl-C ends it.\n`]);
  expect(out).to.match(/^http:\/\/127\.0\.0\.1:\d+\/\?token=\S+\n$/);
  return (await reading) ?? expect.fail('there is no address');
}

async function read(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { authorization: `Bearer ${new URL(url).searchParams.get('token') ?? ''}` },
  });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return { status: response.status, text: new TextDecoder().decode(value) };
}

describe('advisor-chain inspect', () => {
  withoutVariable('NODE_ENV');
  after(() => rmSync(folder, { recursive: true }));

  it('serves the page of a client to those with the token, until Ctrl-C', async () => {
    module('app.mjs', 'export default ChatClient.create(new OfflineChatModel());');

    const page = await inspect('app.mjs', '/?token=TOKEN');
    const refused = await inspect('app.mjs', '/api/events');

    expect(page.status).to.be.below(400);
    expect(refused.status).to.be.within(401, 403);
  });

  it('is refused in production', async () => {
    module('app.mjs', 'export default ChatClient.create(new OfflineChatModel());');
    process.env['NODE_ENV'] = 'production';

    const { code, err } = await runCommandLine(['inspect', 'app.mjs'], { cwd: folder });

    expect(code).to.equal(1);
    expect(err).to.include('NODE_ENV is production');
  });

  it('shows the turns of an inspector that the client has', async () => {
    module(
      'own.mjs',
      `export const client = ChatClient.builder(new OfflineChatModel()).defaultAdvisors(new Inspector()).build();
       await client.prompt('a question of the application').call().content();`,
    );

    const { text } = await inspect('own.mjs', '/api/events?token=TOKEN');

    expect(text).to.include('a question of the application');
  });
});
