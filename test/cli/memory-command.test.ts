import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { runCommandLine, type CommandLineOptions } from '../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'memory-'));

async function fill(file: string): Promise<void> {
  const memory = await SqliteChatMemoryRepository.open(join(folder, file));
  await memory.append('anna-7', [
    { role: 'user', content: 'I want a REFUND,\nplease \u001B[2J\u0008' },
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'c-1', name: 'find_order', arguments: '{"id":4}' }],
    },
    { role: 'tool', toolCallId: 'c-1', toolName: 'find_order', content: 'order 4' },
    { role: 'assistant', content: [{ type: 'text', text: 'Done: order 4.' }] },
  ]);
  for (let at = 0; at < 120; at++)
    await memory.append(`other-${String(at).padStart(3, '0')}`, [
      { role: 'user', content: `question ${at}` },
    ]);
  await memory.close();
}

function memory(line: string, options: CommandLineOptions = {}, file = 'chat.db') {
  const [action = '', ...rest] = line.split(' ');
  return runCommandLine(['memory', action, ...rest, '--memory', file], { cwd: folder, ...options });
}
const countOf = async (file: string): Promise<number> =>
  (await memory('show', {}, file)).out.trim().split('\n').filter(Boolean).length;

describe('advisor-chain memory', () => {
  before(() => fill('chat.db'));
  after(() => rmSync(folder, { recursive: true }));

  it('shows the ids of all conversations', async () => {
    const { code, out } = await memory('show');
    const json = await memory('show --json');

    expect(code).to.equal(0);
    expect(out.trim().split('\n')).to.have.lengthOf(121).and.include('anna-7');
    expect(JSON.parse(json.out)).to.have.lengthOf(121).and.include('other-119');
  });

  it('reports on standard error that there are no conversations', async () => {
    await (await SqliteChatMemoryRepository.open(join(folder, 'empty.db'))).close();

    const shown = await memory('show', {}, 'empty.db');
    const json = await memory('show --json', {}, 'empty.db');

    expect(shown).to.deep.equal({ code: 0, out: '', err: 'The memory has no conversations.\n' });
    expect(json).to.deep.equal({ code: 0, out: '[]\n', err: '' });
  });

  it('shows the messages of one, without what a terminal would execute', async () => {
    const { out } = await memory('show -c anna-7');

    expect(out).to.equal(
      [
        '    1  user: I want a REFUND,',
        '       please \uFFFD',
        '    2  assistant: → find_order {"id":4}',
        '    3  tool find_order: order 4',
        '    4  assistant: Done: order 4.',
        '',
      ].join('\n'),
    );
    expect((await memory('show -c anna-7 --limit 1')).out).to.match(
      /^ {4}4 {2}assistant: Done.*\n$/,
    );
    const json = await memory('show --conversation anna-7 --json');
    expect(JSON.parse(json.out)).to.include({ version: 4 }).and.have.nested.property('messages[3]');
  });

  it('finds texts in all conversations, or in one', async () => {
    const { code, out } = await memory('search refund');
    const json = await memory('search question --limit 2 --json');

    expect([code, out]).to.deep.equal([0, 'anna-7 1 user: I want a REFUND, please \uFFFD\n']);
    expect(
      json.out
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).to.deep.equal([
      { conversation: 'other-000', version: 1, role: 'user', text: 'question 0' },
      { conversation: 'other-001', version: 1, role: 'user', text: 'question 1' },
    ]);
    expect(json.err).to.equal('The first 2 matches; --limit gives more.\n');
    expect(await memory('search refund -c other-001')).to.deep.equal({
      code: 0,
      out: '',
      err: 'No message has this text.\n',
    });
  });

  it('exports lines of JSON to the output or a file', async () => {
    const one = await memory('export -c anna-7');
    const all = await memory('export --out all.jsonl');

    expect(one.err).to.equal('conversations: 1, messages: 4\n');
    expect(JSON.parse(one.out.split('\n')[2] ?? '')).to.deep.include({
      conversation: 'anna-7',
      version: 3,
    });
    expect(all.out).to.equal('');
    const lines = readFileSync(join(folder, 'all.jsonl'), 'utf8').trim().split('\n');
    expect(lines).to.have.lengthOf(124);
  });

  it('deletes a conversation after a question on a terminal, or with --yes in a pipe', async () => {
    await fill('delete.db');
    const run = (line: string, options?: CommandLineOptions) => memory(line, options, 'delete.db');

    expect((await run('delete -c anna-7')).err).to.include('--yes deletes without a question');
    const no = await run('delete -c anna-7', { isTTY: true, input: 'n\n' });
    expect([no.code, no.out]).to.deep.equal([1, 'Delete conversation "anna-7"? [y/N] ']);
    expect(await countOf('delete.db')).to.equal(121);
    const yes = await run('delete -c anna-7', { isTTY: true, input: 'yes\n' });
    expect(yes.code).to.equal(0);
    expect(yes.err).to.include('1 of 1 conversations deleted');
    expect((await run('delete -c other-003 --yes')).code).to.equal(0);
    expect(await countOf('delete.db')).to.equal(119);
    expect((await run('delete --all -y')).err).to.include('119 of 119 conversations deleted');
    expect(await countOf('delete.db')).to.equal(0);
  });

  it('refuses a conversation or a file that does not exist, and creates none', async () => {
    for (const line of ['show -c unknown', 'delete -c unknown -y'])
      expect(await memory(line)).to.deep.equal({
        code: 1,
        out: '',
        err: 'Error: there is no conversation "unknown"\n',
      });
    expect((await memory('show', {}, 'chta.db')).err).to.equal('Error: there is no file chta.db\n');
    expect(existsSync(join(folder, 'chta.db'))).to.equal(false);
  });

  it('names wrong options and addresses', async () => {
    const cases: readonly (readonly [string, string, number, string])[] = [
      ['delete', 'chat.db', 2, 'give either --conversation or --all'],
      ['delete --all -c a', 'chat.db', 2, 'give either --conversation or --all'],
      ['show --limit 0 -c a', 'chat.db', 2, '--limit must be an integer >= 1, not 0'],
      ['show', 'mysql://x', 1, 'postgres://… or redis://…, not mysql:'],
      ['show', 'sqlite:chat.db', 1, 'a file of SQLite, postgres://… or redis://…, not sqlite:'],
      ['show', 'postgres://127.0.0.1:1/x', 1, 'ECONNREFUSED'],
      ['show', 'redis://127.0.0.1:1', 1, 'ECONNREFUSED'],
    ];
    for (const [line, file, code, message] of cases) {
      const result = await memory(line, {}, file);

      expect(result.code, line).to.equal(code);
      expect(result.err, line).to.include(message);
    }
    const missing = await runCommandLine(['memory', 'show']);
    expect(missing.code).to.equal(2);
    expect(missing.err).to.include('Missing required argument: --memory');
  });
});
