import { expect } from 'chai';
import { command } from '../../src/cli/command.js';
import { InvalidArgumentError } from '../../src/index.js';
import { runCommandLine } from '../support/command-line.js';

/** A program of one command that prints its arguments. */
const root = command({
  name: 'advisor-chain',
  description: 'A program.',
  args: { version: { type: 'boolean', alias: 'v', description: 'Show the version' } },
  commands: {
    echo: command({
      name: 'echo',
      description: 'Print the arguments',
      args: {
        file: { type: 'positional', description: 'A file' },
        port: { type: 'string', alias: 'p', description: 'A port', valueHint: 'number' },
        tool: { type: 'string', description: 'A tool' },
        json: { type: 'boolean', description: 'JSON' },
        fast: { type: 'boolean', description: 'Fast', default: true },
        mode: { type: 'enum', description: 'A mode', options: ['ask', 'never'] },
      },
      repeatable: ['tool'],
      run({ args: { file, port, json, fast, mode }, terminal, all }) {
        terminal.print(JSON.stringify({ file, port, json, fast, mode, tool: all('tool') }));
      },
    }),
    fail: command({
      name: 'fail',
      description: 'Fail',
      args: { kind: { type: 'positional', description: 'A kind' } },
      run({ args }) {
        if (args.kind === 'ours') throw new InvalidArgumentError('two\n  lines');
        if (args.kind === 'several') throw new AggregateError([new Error('refused')], '');
        throw new TypeError('a defect');
      },
    }),
    group: command({
      name: 'group',
      description: 'A group',
      commands: {
        inner: command({
          name: 'inner',
          description: 'Return a code',
          run: () => 1,
        }),
      },
    }),
    wait: command({
      name: 'wait',
      description: 'Wait for Ctrl-C',
      run: ({ terminal: { signal } }) =>
        new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('cancelled')));
        }),
    }),
  },
});
const run = (...argv: readonly string[]) => runCommandLine(argv, { root });

describe('runProgram', () => {
  it('parses positional arguments, options, their short forms and values after =', async () => {
    const words = ['echo', 'a.ts', '-p', '80', '--tool=a', '--tool', 'b', '--json', '--no-fast'];

    const { code, out } = await run(...words, '--mode', 'ask');

    expect(code).to.equal(0);
    expect(JSON.parse(out)).to.deep.equal({
      file: 'a.ts',
      port: '80',
      json: true,
      fast: false,
      mode: 'ask',
      tool: ['a', 'b'],
    });
  });

  it('refuses what a command does not define, with a suggestion and exit code 2', async () => {
    const wrong: readonly (readonly [string, string])[] = [
      ['echo a --prot 80', 'unknown option --prot; did you mean --port?'],
      ['echo a --xyzzy', 'unknown option --xyzzy; see --help'],
      ['echo a b', 'unexpected argument "b"'],
      ['echo', 'Missing required positional argument: FILE'],
      ['echo a --port', '--port needs a value'],
      ['echo a --port=', '--port needs a value'],
      ['echo a --port --json', '--port needs a value; write --port=--json if it is one'],
      ['echo a --json=yes', '--json takes no value, but has "yes"'],
      ['echo a --port 1 -p 2', '--port is given 2 times'],
      ['echo a --no-json', 'unknown option --no-json; did you mean --json?'],
      ['group', ''],
      ['group iner', 'unknown command "iner"; did you mean inner?'],
      ['ecko', 'unknown command "ecko"; did you mean echo?'],
      ['--verison', 'unknown option --verison; did you mean --version?'],
    ];
    for (const [line, message] of wrong) {
      const { code, out, err } = await run(...line.split(' '));

      expect(code, line).to.equal(2);
      expect(out, line).to.equal('');
      expect(err, line).to.include(message);
    }
    expect((await run('echo', 'a', '--prot')).err).to.match(/\nTry: advisor-chain echo --help\n$/);
    expect((await run('echo', 'a', '--mode', 'all')).err).to.include('Expected one of: ask, never');
  });

  it('prints errors as one line, without a stack', async () => {
    expect(await run('fail', 'ours')).to.deep.equal({
      code: 1,
      out: '',
      err: 'Error: two lines\n',
    });
    expect((await run('fail', 'several')).err).to.equal('Error: refused\n');
    expect(await run('fail', 'x')).to.deep.equal({ code: 1, out: '', err: 'Error: a defect\n' });
  });

  it('adds the stack with ADVISOR_CHAIN_DEBUG', async () => {
    const { err } = await runCommandLine(['fail', 'x'], {
      root,
      env: { ADVISOR_CHAIN_DEBUG: '1' },
    });

    expect(err).to.match(/^Error: a defect\nTypeError: a defect\n +at /);
  });

  it('prints help for the program, groups and commands, also behind wrong options', async () => {
    const lines = [
      '--help',
      '-h',
      'group --help',
      'echo --help',
      'echo --wrong -h',
      'group inner -h',
    ];
    for (const line of lines) {
      const { code, out, err } = await run(...line.split(' '));

      expect([code, err], line).to.deep.equal([0, '']);
      expect(out, line).to.include('USAGE advisor-chain').and.include('--help');
      expect(out, line).to.not.match(/ $/m);
    }
    const { out } = await run('--help');
    expect(out).to.include('USAGE advisor-chain [OPTIONS] <COMMAND>').and.include('-v, --version');
  });

  it('prints the help on errors, and nothing on output, if there is no command', async () => {
    const { code, out, err } = await run();

    expect([code, out]).to.deep.equal([2, '']);
    expect(err).to.include('COMMANDS');
  });

  it('prints its version, and returns the code of a command', async () => {
    expect(await run('--version')).to.include({ code: 0, out: 'advisor-chain 0.1.0\n' });
    expect(await run('-v')).to.include({ code: 0 });
    expect(await run('group', 'inner')).to.deep.equal({ code: 1, out: '', err: '' });
  });

  it('ends with 130 and without an error at Ctrl-C', async () => {
    const interrupt = new AbortController();
    const running = runCommandLine(['wait'], { root, signal: interrupt.signal });

    interrupt.abort();

    expect(await running).to.deep.equal({ code: 130, out: '', err: '' });
  });

  it('has colour on terminals alone, and not with NO_COLOR', async () => {
    const help = (env: Record<string, string>) =>
      runCommandLine(['--help'], { root, isTTY: true, env });

    expect((await help({ NO_COLOR: '1' })).out).to.not.include('\u001B');
    expect((await help({ TERM: 'dumb' })).out).to.not.include('\u001B');
    expect((await run('--help')).out).to.not.include('\u001B');
  });
});
