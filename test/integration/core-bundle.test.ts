import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { expect } from 'chai';
import { build, stop, type Metafile } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What an application does: a turn with a tool, called and streamed, on a model of its own. */
const APPLICATION = `
import { ChatClient, ChatResponse, defineTool, AdvisorContext } from './src/index.ts';

const message = (text, toolCalls = []) => ({ role: 'assistant', text, toolCalls });
const answer = ({ messages }) => new ChatResponse({ generations: [{ message: messages.length === 1
  ? message(null, [{ id: 'a', name: 'now', arguments: '{}' }])
  : message('It is ' + messages.at(-1).content) }] });
const model = {
  defaultOptions: {},
  call: async (prompt) => answer(prompt),
  stream: (prompt) => ({ subscribe(subscriber) {
    const response = answer(prompt);
    if (response.text) subscriber.next({ type: 'text-delta', text: response.text });
    subscriber.next({ type: 'response', response, context: AdvisorContext.empty });
    subscriber.complete();
  } }),
};

globalThis.turn = async () => {
  const spec = ChatClient.create(model).prompt('?').tools(defineTool({ name: 'now', execute: () => 'noon' }));
  let streamed = '';
  for await (const text of spec.stream()) streamed += text;
  return [await spec.call().content(), streamed];
};
`;

describe('the core, bundled for any platform', function () {
  this.timeout(60_000);
  let metafile: Metafile;
  let code: string;

  before(async () => {
    const result = await build({
      stdin: { contents: APPLICATION, resolveDir: root, loader: 'ts' },
      absWorkingDir: root,
      bundle: true,
      format: 'iife',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      metafile: true,
      write: false,
    });
    ({ metafile } = result);
    code = result.outputFiles[0]?.text ?? '';
  });

  after(() => stop());

  it('needs no module of Node', () => {
    const imports = [...Object.values(metafile.inputs), ...Object.values(metafile.outputs)].flatMap((part) => part.imports);

    expect(imports).not.to.be.empty;
    expect(imports.filter(({ external }) => external)).to.deep.equal([]);
  });

  it('needs no optional package', () => {
    const packages = Object.keys(metafile.inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);

    expect([...new Set(packages)].sort()).to.deep.equal([
      '@cfworker/json-schema',
      '@noble/hashes',
      'rxjs',
      'tslib',
      'zod',
      'zod-to-json-schema',
    ]);
  });

  it('runs a turn where there is nothing but the language, URL and timers', async () => {
    const context = createContext({ URL, setTimeout, clearTimeout });

    runInContext(code, context);

    const texts: unknown = await runInContext('turn()', context);
    expect(JSON.stringify(texts)).to.equal('["It is noon","It is noon"]');
  });
});
