import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Inspector } from '../../../src/bridges/inspector/index.js';
import {
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { runCommandLine } from '../../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'run-'));
const source = new URL('../../../src/', import.meta.url).href;

/** Two turns of a conversation with a tool, exported. */
async function exportTurns(): Promise<void> {
  const inspector = new Inspector({ allowInProduction: true });
  const repository = new InMemoryChatMemoryRepository();
  const model = new ScriptedChatModel([
    { toolCalls: [{ name: 'weather', arguments: '{"city":"Rome"}' }] },
    { text: 'It is 24 degrees.' },
    { text: 'You are welcome.' },
  ]);
  const weather = defineTool({
    name: 'weather',
    description: 'The weather.',
    input: { type: 'object', properties: { city: { type: 'string' } } },
    execute: () => ({ degrees: 24 }),
  });
  const client = ChatClient.builder(model)
    .defaultSystem('Be short.')
    .defaultTools(weather)
    .defaultAdvisors(
      inspector,
      new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }),
    )
    .build();
  await client.prompt('Weather in Rome?').conversation('c').call().content();
  await client.prompt('Thanks!').conversation('c').stream().finalResponse();
  writeFileSync(join(folder, 'turns.json'), JSON.stringify(await inspector.export()));
}

function module(name: string, system: string, advisor = ''): void {
  writeFileSync(
    join(folder, name),
    `import { ChatClient, ChatResponse, defineAdvisor, defineTool, InMemoryChatMemoryRepository, MessageChatMemoryAdvisor, MessageWindowChatMemory } from '${source}index.js';
     const model = { defaultOptions: {}, call() { throw new Error('asked'); }, stream() { throw new Error('asked'); } };
     const repository = new InMemoryChatMemoryRepository();
     const weather = defineTool({ name: 'weather', description: 'The weather.', input: { type: 'object', properties: { city: { type: 'string' } } }, execute: () => { throw new Error('called'); } });
     export const client = ChatClient.builder(model).defaultSystem('${system}').defaultTools(weather)
       .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }) ${advisor}).build();`,
  );
}
const run = (...argv: readonly string[]) => runCommandLine(['run', ...argv], { cwd: folder });

describe('advisor-chain run', () => {
  before(exportTurns);
  after(() => rmSync(folder, { recursive: true }));

  it('finds no difference on the same chain, and asks no model and no tool', async () => {
    module('same.mjs', 'Be short.');

    const { code, out, err } = await run('turns.json', 'same.mjs');

    expect(err).to.equal('');
    expect(out).to.match(/the same {2}Weather in Rome\?\n.*the same {2}Thanks!\n$/);
    expect(code).to.equal(0);
  });

  it('prints the differences of requests and answers, and ends with 1', async () => {
    module(
      'other.mjs',
      'Be long.',
      `, defineAdvisor({ name: 'shout', order: 2_000, after: () => ChatResponse.ofText('LOUD') })`,
    );

    const { code, out } = await run('turns.json', 'other.mjs');

    expect(code).to.equal(1);
    expect(out).to.include('differs   Weather in Rome?').and.include('request 1');
    expect(out).to.match(/message 1, system: Be short\. -> Be long\./);
    expect(out).to.include('answer\n    - It is 24 degrees.\n    + LOUD\n');
  });

  it('prints JSON, of one turn', async () => {
    const { turns } = JSON.parse(readFileSync(join(folder, 'turns.json'), 'utf8')) as {
      readonly turns: readonly { readonly turnId: string }[];
    };

    const { code, out } = await run(
      'turns.json',
      'same.mjs',
      '--json',
      '--turn',
      turns[1]?.turnId ?? '',
    );

    const [first, ...others] = JSON.parse(out) as readonly object[];
    expect([code, others]).to.deep.equal([0, []]);
    expect(first).to.deep.include({ question: 'Thanks!', differences: [] });
  });

  it('prints the ids of the file, and takes them', async () => {
    const { turns } = JSON.parse(readFileSync(join(folder, 'turns.json'), 'utf8')) as {
      readonly turns: readonly { readonly id: string }[];
    };
    const ids = turns.map(({ id }) => id);

    const { out } = await run('turns.json', 'same.mjs');
    const one = await run('turns.json', 'same.mjs', '--turn', ids[1] ?? '');

    expect(out.match(/^\S+/gm)).to.deep.equal(ids);
    expect(one.out).to.match(new RegExp(`^${ids[1]} {2}the same {2}Thanks!\n$`));
  });

  it('runs on a chain without advisors if there is no module', async () => {
    expect(await run('turns.json')).to.include({ code: 0, err: '' });
  });

  it('refuses files that are no export, and turns that are not in it', async () => {
    writeFileSync(join(folder, 'wrong.json'), '{}');

    expect((await run('none.json')).err).to.include('none.json cannot be read');
    expect((await run('wrong.json')).code).to.equal(1);
    expect((await run('turns.json', '--turn', 'x')).err).to.include('has no turn x; there is');
  });
});
