import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommandLine, type CommandLineResult } from '../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'serve-'));
const source = new URL('../../src/', import.meta.url).href;
writeFileSync(
  join(folder, 'app.mjs'),
  `import { ChatClient } from '${source}index.js';
   import { OfflineChatModel } from '${source}testing/index.js';
   export default ChatClient.create(new OfflineChatModel());`,
);

/** Serves while `act` runs, and ends it by Ctrl-C. */
async function serve(
  argv: readonly string[],
  act: (address: string) => Promise<void>,
  env: Record<string, string> = {},
): Promise<CommandLineResult> {
  const interrupt = new AbortController();
  let done = Promise.resolve();
  let isStarted = false;
  const onOutput = (text: string): void => {
    const [address] = /http:\S+/.exec(text) ?? [];
    if (address === undefined || isStarted) return;
    isStarted = true;
    done = act(address).finally(() => interrupt.abort());
  };
  const options = { cwd: folder, env, signal: interrupt.signal, onOutput };
  const result = await runCommandLine(['serve', 'app.mjs', ...argv], options);
  await done;
  return result;
}

function ask(address: string, headers: Record<string, string> = {}): Promise<Response> {
  const messages = [{ role: 'user', content: 'hello' }];
  return fetch(`${address}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'any', messages }),
  });
}

describe('advisor-chain serve', () => {
  after(() => rmSync(folder, { recursive: true }));

  it('answers requests of the OpenAI API until Ctrl-C', async () => {
    let text = '';

    const { code, out, err } = await serve(['--port', '0'], async (address) => {
      text = await (await ask(address)).text();
    });

    expect(JSON.parse(text)).to.have.nested.property('choices[0].message.content');
    expect(code).to.equal(130);
    expect(out).to.match(/^http:\/\/127\.0\.0\.1:\d+\/v1\n$/);
    expect(err).to.equal('The endpoint of app.mjs is ready; Ctrl-C ends it.\n');
  });

  it('refuses callers without its key', async () => {
    for (const [argv, env] of [
      [['--key', 'k-1'], {}],
      [[], { ADVISOR_CHAIN_KEY: 'k-1' }],
    ] as const) {
      const statuses: number[] = [];

      const { err } = await serve(
        ['--port', '0', ...argv],
        async (address) => {
          for (const authorization of ['Bearer k-1', 'Bearer k-2', 'Basic x'])
            statuses.push((await ask(address, { authorization })).status);
        },
        env,
      );

      expect(statuses).to.deep.equal([200, 401, 401]);
      expect(err).to.include('is ready, with a key;');
    }
  });

  it('names a port that is in use or is not one', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;

    const used = await runCommandLine(['serve', 'app.mjs', '-p', `${port}`], { cwd: folder });
    const wrong = await runCommandLine(['serve', 'app.mjs', '-p', '70000'], { cwd: folder });
    other.close();

    expect(used.code).to.equal(1);
    expect(used.err).to.include(`port ${port} is in use; port 0 takes one that is free`);
    expect(wrong.code).to.equal(2);
    expect(wrong.err).to.include('--port must be an integer from 0 to 65535, not 70000');
  });
});
