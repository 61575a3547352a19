import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { rolldown } from 'rolldown';
import { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { serveOffline } from '../../src/testing/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = new URL('../../src/', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'program-'));
const MAIN = join(root, 'src/cli/main.ts');
const TSX = import.meta.resolve('tsx');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly ended: Promise<Ended>;
  /** Waits for a text on stdout or stderr. */
  readonly printed: (pattern: RegExp) => Promise<string>;
  readonly interrupt: () => void;
}

/** The program as a process, with pipes and without keys. */
function start(
  argv: readonly string[],
  env: Record<string, string> = {},
  command: readonly string[] = ['--import', TSX, MAIN],
): Running {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [...command, ...argv], {
    cwd: folder,
    env: { PATH, HOME, ...env },
  });
  let [out, err] = ['', ''];
  const waiting = new Set<() => void>();
  const checkAll = (): void => waiting.forEach((check) => check());
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    checkAll();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    checkAll();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code) => {
      resolve({ code, out, err });
      checkAll();
    }),
  );
  return {
    ended,
    printed: (pattern) =>
      new Promise((resolve) => {
        const check = (): void => {
          const [found] = pattern.exec(out + err) ?? [];
          if (found !== undefined) resolve(found);
        };
        waiting.add(check);
        check();
      }),
    interrupt: () => void child.kill('SIGINT'),
  };
}
const run = (argv: readonly string[], env?: Record<string, string>): Promise<Ended> =>
  start(argv, env).ended;

/** A shell line in which `program` is the program. */
function shell(line: string): Promise<Ended> {
  const program = `"${process.execPath}" --import "${TSX}" "${MAIN}"`;
  const code = `const { spawnSync } = require('child_process');
    const { status, stdout, stderr } = spawnSync('bash', ['-c', ${JSON.stringify(`set -o pipefail; ${line.replace('program', program)}`)}]);
    process.stdout.write(stdout); process.stderr.write(stderr); process.exitCode = status;`;
  return start([], {}, ['-e', code]).ended;
}

describe('the program advisor-chain as a process', function () {
  this.timeout(240_000);
  this.slow(20_000);

  before(() => {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    writeFileSync(
      join(folder, 'app.ts'),
      `import { ChatClient } from '${source}index.js';
       import { OpenAIChatModel } from '${source}models/openai/index.js';
       const { OPENAI_API_KEY: apiKey = 'none', OPENAI_BASE_URL: baseURL = 'http://127.0.0.1:1' } = process.env;
       export const client = ChatClient.create(new OpenAIChatModel({ model: 'm', apiKey, baseURL }));
       setInterval(() => undefined, 1_000); // as a pool of a database does`,
    );
  });
  after(() => rmSync(folder, { recursive: true }));

  it('prints help, versions and chains to a pipe, without colour, and ends with open handles', async () => {
    const help = await run(['--help'], { NO_COLOR: '1' });
    expect([help.code, help.err]).to.deep.equal([0, '']);
    expect(help.out).to.include('COMMANDS').and.not.include('\u001B');

    const forced = await run(['explain', 'app.ts'], { FORCE_COLOR: '1' });
    expect([forced.code, forced.err]).to.deep.equal([0, '']);
    expect(forced.out).to.include('tool loop:').and.not.include('\u001B');
  });

  it('ends with 2 for a wrong use and 1 for a failure, without a stack', async () => {
    const wrong = await run(['explain', 'app.ts', '--jsno']);
    const failed = await run(['explain', 'none.ts']);

    expect([wrong.code, failed.code]).to.deep.equal([2, 1]);
    for (const { err } of [wrong, failed])
      expect(err)
        .to.match(/^Error: /)
        .and.not.match(/^ +at /m);
  });

  it('is quiet when the reader of its pipe ends', async () => {
    const file = join(folder, 'chat.db');
    const memory = await SqliteChatMemoryRepository.open(file);
    for (let at = 0; at < 50; at++)
      await memory.append(`c-${at}`, [{ role: 'user', content: 'x'.repeat(20_000) }]);
    await memory.close();

    const { code, out, err } = await shell(`program memory export --memory "${file}" | head -c 20`);

    expect(code).to.equal(0);
    expect(err).to.not.match(/Error|EPIPE|^ +at /m);
    expect(out).to.have.lengthOf(20);
  });

  it('serves the client of a module with a key until Ctrl-C', async () => {
    const provider = await serveOffline();
    const env = { OPENAI_API_KEY: 'fake', OPENAI_BASE_URL: provider.baseURL };
    const served = start(['serve', 'app.ts', '--port', '0', '--key', 'k'], env);
    const address = await served.printed(/http:\/\/127[^\s]+\/v1/);

    const response = await fetch(`${address}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
      body: JSON.stringify({ model: 'x', messages: [{ role: 'user', content: 'hello' }] }),
    });
    const text = await response.text();
    served.interrupt();
    const { code, err } = await served.ended;
    await provider.close();

    expect(text).to.include('I am the offline model');
    expect(code).to.equal(130);
    expect(err).to.not.match(/Error|^ +at /m);
    expect(provider.requests).to.have.lengthOf(1);
  });

  it('ends with 130 at Ctrl-C at any moment, without a stack', async () => {
    for (const wait of [0, 50, 150, 300, 600, 1_000]) {
      const served = start(['serve', 'app.ts', '--port', '0']);
      await new Promise((resolve) => setTimeout(resolve, wait));
      served.interrupt();
      const { code, err } = await served.ended;

      // Node.js itself ends before the program has begun
      expect([130, null], `after ${wait} ms: ${err}`).to.include(code);
      expect(err).to.not.match(/^ +at /m);
    }
  });

  it('works as one file beside the built entries', async () => {
    // the build of .ci/program.mjs, with the entries as sources
    const bundle = await rolldown({
      cwd: root,
      input: 'src/cli/main.ts',
      platform: 'node',
      external: (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('citty'),
    });
    const dist = join(folder, 'dist');
    mkdirSync(dist);
    writeFileSync(join(dist, 'package.json'), '{ "name": "advisor-chain", "type": "module" }');
    await bundle.write({ dir: dist, format: 'esm', entryFileNames: 'cli.js' });
    await bundle.close();
    writeFileSync(
      join(folder, 'plain.mjs'),
      'export default { prompt() {}, mutate() {}, resume() {}, explain: () => ({ toString: () => "plain" }) };',
    );
    const program = [join(dist, 'cli.js')];

    const chain = await start(['explain', 'plain.mjs'], {}, program).ended;
    const typed = await start(['explain', 'app.ts'], {}, program).ended;
    const doctor = await start(['doctor'], {}, program).ended;
    writeFileSync(join(folder, 'kind.cjs'), 'export default 1;');
    const kind = await start(['explain', 'kind.cjs'], {}, program).ended;

    expect(chain).to.deep.equal({ code: 0, out: 'plain\n', err: '' });
    expect([typed.code, typed.err]).to.deep.equal([0, '']);
    expect(typed.out).to.include('tool loop:          tool-calling');
    expect(doctor.out).to.include('No problem found');
    expect(kind.err).to.include('it is a CommonJS module: name it kind.mjs');
  });
});
