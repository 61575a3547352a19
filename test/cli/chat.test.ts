import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Inspector } from '../../src/bridges/inspector/index.js';
import { serveOffline } from '../../src/testing/index.js';
import { TypedCommand, type TypedCommandOptions } from '../support/typed-command.js';

const SCENE = fileURLToPath(new URL('../fixtures/cli/scene.ts', import.meta.url));
const TOOLS = fileURLToPath(new URL('../fixtures/cli/scene-tools.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('../fixtures/cli/mcp-server.ts', import.meta.url));
const WITH_SERVER = [
  SCENE,
  '--approve',
  'never',
  '--mcp',
  `NODE_OPTIONS=--import=${import.meta.resolve('tsx')} ${process.execPath} ${SERVER}`,
];
const PROMPT = '\n> ';
const INTERRUPT = '\u0003';
const END = '\u0004';

describe('advisor-chain chat', () => {
  const folder = mkdtempSync(join(tmpdir(), 'chat-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const chat = (argv: readonly string[] = [], options: TypedCommandOptions = {}): TypedCommand =>
    new TypedCommand(['chat', ...argv], { cwd: folder, ...options });

  /** A chat at its first prompt. */
  async function started(argv: readonly string[] = [SCENE]): Promise<TypedCommand> {
    const command = chat(argv);
    await command.waitFor(PROMPT);
    return command;
  }

  /** Asks, and resolves with the output until the next prompt. */
  async function ask(command: TypedCommand, question: string): Promise<string> {
    const from = command.output.text.length;
    command.enter(question);
    await command.waitFor(PROMPT);
    return command.output.text.slice(from);
  }

  async function left(command: TypedCommand): Promise<number> {
    command.type(END);
    return await command.code;
  }

  describe('piped', () => {
    async function piped(text: string, argv: readonly string[] = [SCENE], options = {}) {
      const command = chat(argv, { isTerminal: false, ...options });
      command.input.end(text);
      const code = await command.code;
      return { code, out: command.output.text, notes: command.errors.text };
    }

    it('answers the whole input as one question, with the answer alone on the output', async () => {
      const { code, out, notes } = await piped('first line\nsecond line\n');

      expect(out).to.equal('You wrote "first line\nsecond line" in message 1.\n');
      expect(notes).to.equal('');
      expect(code).to.equal(0);
    });

    it('prints the answer that counts, and calls of tools on the error output', async () => {
      const again = await piped('again');
      const read = await piped('read');

      expect(again.out).to.equal('a second answer\n');
      expect(read.out).to.equal('The tool reports: content of a.txt\n');
      expect(read.notes).to.contain('→ read_file {"name":"a.txt"}');
      expect(read.notes).to.contain('← read_file: content of a.txt');
    });

    it('leaves texts for files unchanged, and streams to a terminal without their control characters', async () => {
      const file = await piped('hostile');
      const shown = chat([SCENE], { isTerminal: false, isOutputTerminal: true });
      shown.input.end('hostile');
      await shown.code;

      expect(file.out).to.equal('red  title  end\n'); // as far as the test itself strips it
      expect(shown.output.raw).to.contain('red �[31m title �]0;x� end');
    });

    it('ends with 1 and one line for an error', async () => {
      const { code, out, notes } = await piped('fail');

      expect(code).to.equal(1);
      expect(out).to.equal('');
      expect(notes).to.equal('Error: the model is out of order\n');
    });

    it('denies what needs an approval, and reports how to run it', async () => {
      const { code, out, notes } = await piped('write');

      expect(notes).to.contain('denied write_file');
      expect(notes).to.contain("--approve=never runs all tools; effect: 'read'");
      expect(out).to.contain('needs the approval of a person');
      expect(out.match(/Not run/g)).to.have.lengthOf(1);
      expect(code).to.equal(0);
    });

    it('runs all tools with --approve never', async () => {
      const { out } = await piped('write', [SCENE, '--approve', 'never']);

      expect(out).to.equal('The tool reports: a.txt is written\n');
    });

    it('asks about reading, too, with --approve ask', async () => {
      const { out } = await piped('read', [SCENE, '--approve=ask']);

      expect(out).to.contain('needs the approval of a person');
    });

    it('declines questions of MCP servers, and reports that', async () => {
      const { code, out, notes } = await piped('shop', WITH_SERVER);

      expect(out).to.contain('The tool reports: {"action":"cancel"}');
      expect(notes).to.contain('no answer for the MCP server mcp-server: there is no terminal');
      expect(code).to.equal(0);
    });

    it('needs a question', async () => {
      const { code, notes } = await piped(' \n');

      expect(code).to.equal(2);
      expect(notes).to.contain('no question on standard input');
    });

    it('answers by the offline model without a key, and reports that', async () => {
      const { code, out, notes } = await piped('hello', []);

      expect(out).to.contain('offline model');
      expect(notes).to.contain('No key of a provider is set');
      expect(code).to.equal(0);
    });

    it('offers the tools of a module to a model of a provider, with a system text', async () => {
      const server = await serveOffline();
      const env = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: server.baseURL };
      const argv = [TOOLS, '--model', 'openai:gpt-5-mini', '--system', 'Be brief.'];

      const { code, out } = await piped('Please read_file with name a.txt', argv, { env });
      await server.close();

      expect(code).to.equal(0);
      expect(out).to.contain('content of');
      const [first] = server.requests.map(({ body }) => body as Record<string, unknown>);
      expect(first?.['model']).to.equal('gpt-5-mini');
      expect(JSON.stringify(first?.['messages'])).to.contain('Be brief.');
      expect(JSON.stringify(first?.['tools'])).to.contain('write_file');
    });

    it('uses a model of the command line in place of the one of the client', async () => {
      const { out } = await piped('hello', [SCENE, '--model', 'offline']);

      expect(out).to.contain('I am the offline model');
    });

    it('cancels the turn at Ctrl-C', async () => {
      const command = chat([SCENE], { isTerminal: false, isOutputTerminal: true });
      command.input.end('stream');
      await command.waitFor('word word');
      command.interrupt();

      expect(await command.code).to.equal(130);
    });
  });

  describe('at a terminal', () => {
    it('remembers the conversation, and ends with 0 at Ctrl-D', async () => {
      const command = await started();
      await ask(command, 'one');
      const second = await ask(command, 'two');

      expect(second).to.contain('You wrote "two" in message 3.');
      expect(await left(command)).to.equal(0);
      expect(command.input.isRaw).to.equal(false);
    });

    it('shows tools, reasoning, void answers and errors, and continues', async () => {
      const command = await started();

      expect(await ask(command, 'read')).to.match(/→ read_file .*\n {2}← read_file: content/);
      expect(await ask(command, 'think')).to.contain('First I think.\nThen I answer.');
      expect(await ask(command, 'again')).to.match(/a first answer\n.*void.*\n…?a second answer\n/);
      expect(await ask(command, 'fail')).to.contain('Error: the model is out of order\n');
      expect(await ask(command, 'hello')).to.contain('You wrote "hello"');
      await left(command);
    });

    it('joins lines that end with a backslash, and lines of a paste', async () => {
      const command = await started();

      expect(await ask(command, 'one\\\rtwo')).to.contain('"one\ntwo"');
      command.type('\u001b[200~three\nfour\u001b[201~');
      expect(await ask(command, '')).to.contain('"three\nfour"');
      await left(command);
    });

    it('finds earlier questions by the arrow keys', async () => {
      const command = await started();
      await ask(command, 'one');
      await ask(command, 'two');

      expect(await ask(command, '\u001b[A\u001b[A')).to.contain('You wrote "one"');
      await left(command);
    });

    it('keeps lines that are typed during an answer for the next prompt', async () => {
      const command = await started();
      command.type('one\rtwo\r');
      await command.waitFor('You wrote "one"');
      await command.waitFor('You wrote "two"');

      expect(await left(command)).to.equal(0);
    });

    it('cancels an answer at Ctrl-C and returns to the prompt', async () => {
      const command = await started();
      for (const scene of ['stream', 'wait', 'hang', 'ignore']) {
        command.enter(scene);
        if (scene === 'stream') await command.waitFor('word word');
        else await command.waitFor(scene === 'wait' ? '…' : `→ ${scene}`);
        command.type(INTERRUPT);
        await command.waitFor('cancelled');
        await command.waitFor(PROMPT);
      }

      expect(await ask(command, 'hello')).to.contain('in message 1.');
      expect(await left(command)).to.equal(0);
    });

    it('empties the line at Ctrl-C, and ends with 130 at the second one of an empty line', async () => {
      const command = await started();
      command.type(`some text${INTERRUPT}`);
      expect(await ask(command, 'one')).to.contain('You wrote "one"');
      command.type(INTERRUPT);
      await command.waitFor('Ctrl-C again');
      await command.waitFor(PROMPT);
      command.type(INTERRUPT);

      expect(await command.code).to.equal(130);
    });

    it('asks for approvals: yes, no, and always', async () => {
      const command = await started();
      const decide = async (question: string, ...keys: readonly string[]): Promise<string> => {
        command.enter(question);
        const from = command.output.text.length;
        for (const key of keys) {
          await command.waitFor('run it?');
          command.enter(key);
        }
        await command.waitFor(PROMPT);
        return command.output.text.slice(from);
      };

      expect(await decide('write', 'y')).to.contain('The tool reports: a.txt is written');
      expect(await decide('write', 'maybe', 'n')).to.match(
        /Not run: the user denied this call of "write_file"\.\s/,
      );
      expect(await decide('both', 'y', 'a')).to.contain('The tool reports: b.txt is written');
      expect(await decide('write')).to.contain('The tool reports: a.txt is written');
      await left(command);
    });

    it('cancels the turn at Ctrl-C of an approval', async () => {
      const command = await started();
      command.enter('both');
      await command.waitFor('run it?');
      command.type(INTERRUPT);
      await command.waitFor('cancelled');
      await command.waitFor(PROMPT);

      expect(command.output.text.match(/run it\?/g)).to.have.length(1);
      expect(await left(command)).to.equal(0);
    });

    it('answers questions of tools', async () => {
      const command = await started();
      command.enter('greet');
      await command.waitFor('Your name?');
      await command.waitFor('answer: ');

      expect(await ask(command, 'Anna')).to.contain('The tool reports: greeted Anna');
      await left(command);
    });
  });

  describe('commands', () => {
    it('asks for the fields of a form one by one', async () => {
      const command = await started();

      command.enter('fill');
      await command.waitFor('name: ');
      command.enter('');
      await command.waitFor('name: ');
      command.enter('Anna');
      await command.waitFor('age (number, may be empty): ');
      command.enter('many');
      await command.waitFor('This is no number.');
      const shown = await ask(command, '7');

      expect(shown).to.contain('The tool reports: {"name":"Anna","age":7}');
      expect(await left(command)).to.equal(0);
    });

    it('answers questions of MCP servers', async () => {
      const command = await started(WITH_SERVER);

      command.enter('shop');
      await command.waitFor('The MCP server mcp-server asks: Your order?');
      await command.waitFor('Size (S, M): ');
      command.enter('L');
      await command.waitFor('It must be one of S, M.');
      command.enter('m');
      await command.waitFor('count (whole number, empty for 1): ');
      command.enter('');
      await command.waitFor('gift (yes or no): ');
      command.enter('y');
      await command.waitFor('note (may be empty): ');
      const shown = await ask(command, '');

      expect(shown).to.contain('{"action":"accept","content":{"size":"M","count":1,"gift":true}}');
      expect(await left(command)).to.equal(0);
    });

    it('continues a turn when an MCP server withdraws its question', async () => {
      const command = await started(WITH_SERVER);

      command.enter('hurry');
      await command.waitFor('Size (S, M): ');
      await command.waitFor(PROMPT);

      expect(command.output.text).to.contain('The tool reports: withdrawn');
      expect(command.output.text).not.to.contain('cancelled');
      expect(await ask(command, 'hello')).to.contain('You wrote "hello"');
      expect(await left(command)).to.equal(0);
    });

    it('cancels the turn at Ctrl-C of a question of an MCP server', async () => {
      const command = await started(WITH_SERVER);

      command.enter('shop');
      await command.waitFor('Size (S, M): ');
      command.type(INTERRUPT);
      await command.waitFor('cancelled');
      await command.waitFor(PROMPT);

      expect(await ask(command, 'hello')).to.contain('You wrote "hello"');
      expect(await left(command)).to.equal(0);
    });

    it('explains the chain, traces the last turn, sums tokens', async () => {
      const command = await started([]);
      await ask(command, 'hello');

      expect(await ask(command, '/explain')).to.match(/tool loop: +tool-calling/);
      expect(await ask(command, '/trace')).to.contain('chat offline');
      expect(await ask(command, '/tokens')).to.match(/input +\d+ tokens\noutput +\d+ tokens/);
      expect(await ask(command, '/help')).to.match(/\/explain .*\n.*\/trace/);
      expect(await ask(command, '/nix')).to.contain('unknown command /nix');
      expect(await ask(command, '/tokens now')).to.contain('/tokens takes no argument');
      await left(command);
    });

    it('forgets the last turn', async () => {
      const command = await started();
      await ask(command, 'one');
      await ask(command, 'two');

      expect(await ask(command, '/undo')).to.contain('forgotten: two');
      expect(await ask(command, 'three')).to.contain('in message 3.');
      await ask(command, '/undo');
      await ask(command, '/undo');
      expect(await ask(command, '/undo')).to.contain('no turn to forget');
      expect(await ask(command, 'four')).to.contain('in message 1.');
      await left(command);
    });

    it('changes the model, and keeps it if there is no such one', async () => {
      const command = await started();

      expect(await ask(command, '/model')).to.contain('model: the model of the module');
      expect(await ask(command, '/model nix')).to.contain('Error: --model is written as');
      expect(await ask(command, 'hello')).to.contain('You wrote');
      expect(await ask(command, '/model offline')).to.contain('model: offline');
      expect(await ask(command, 'hello')).to.contain('I am the offline model');
      await left(command);
    });

    it('writes the turns to a new file', async () => {
      const command = await started();
      expect(await ask(command, '/export a.md')).to.contain('there is no turn so far');
      await ask(command, 'read');

      expect(await ask(command, '/export a.md')).to.contain('written: a.md');
      expect(await ask(command, '/export a.md')).to.contain('a.md exists already');
      const text = readFileSync(join(folder, 'a.md'), 'utf8');
      expect(text).to.contain('- `read_file` `{"name":"a.txt"}` (finished)');
      expect(text).to.contain('The tool reports: content of a.txt');
      await left(command);
    });

    it('writes the turns for an inspector, and names the file by the conversation', async () => {
      const command = await started();
      await ask(command, 'read');
      const shown = await ask(command, '/export');

      const file = /written: (chat-\w+\.json)/.exec(shown)?.[1] ?? '';
      const inspector = new Inspector();
      const ids = inspector.import(readFileSync(join(folder, file), 'utf8'));
      expect(ids).to.have.length(1);
      expect(inspector.turn(ids[0] ?? '')?.answerText).to.contain('content of a.txt');
      await left(command);
    });

    it('ends at /quit and /exit, and takes a question that begins with a slash', async () => {
      for (const end of ['/quit', '/exit']) {
        const command = await started();
        expect(await ask(command, '//usr')).to.contain('You wrote "/usr"');
        command.enter(end);

        expect(await command.code).to.equal(0);
      }
    });
  });

  describe('--memory', () => {
    it('keeps a conversation in a file, and continues it', async () => {
      const first = await started([SCENE, '--memory', 'chat.db']);
      const id = /conversation (\S+) in chat\.db \(new\)/.exec(first.output.text)?.[1] ?? '';
      await ask(first, 'one');
      await left(first);

      const second = await started([SCENE, '--memory', 'chat.db', '--conversation', id]);
      expect(second.output.text).to.contain(`conversation ${id} in chat.db (2 messages)`);
      expect(await ask(second, 'two')).to.contain('in message 3.');
      expect(await ask(second, '/undo')).to.contain('forgotten: two');
      expect(await ask(second, '/undo')).to.contain('forgotten: one');
      await left(second);

      expect(existsSync(join(folder, 'chat.db'))).to.equal(true);
    });

    it('needs a file for a conversation', async () => {
      const command = chat(['--conversation', 'a']);

      expect(await command.code).to.equal(2);
      expect(command.errors.text).to.contain('--conversation needs --memory');
    });
  });
});
