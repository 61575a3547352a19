import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { expect } from 'chai';
import { build, stop, type BuildOptions, type BuildResult, type Metafile } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** An application: a turn with a tool, called and streamed, with a custom model. */
const APPLICATION = `
import { ChatClient, ChatResponse, defineTool, AdvisorContext } from './src/index.ts';

const message = (content, toolCalls) => ({ role: 'assistant', content, ...(toolCalls && { toolCalls }) });
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
globalThis.failure = () => {
  try {
    ChatClient.create(undefined);
  } catch (error) {
    return String(error);
  }
};
`;

/** Loaded by observability only. */
const OPTIONAL = '@opentelemetry/api';

function packageOf(path: string): string | undefined {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}

describe('a bundle of the core for a neutral platform', function () {
  this.timeout(60_000);
  let metafile: Metafile;
  let code: string;
  const bundle = (
    options: BuildOptions = {},
  ): Promise<BuildResult<{ metafile: true; write: false }>> =>
    build({
      stdin: { contents: APPLICATION, resolveDir: root, loader: 'ts' },
      absWorkingDir: root,
      bundle: true,
      format: 'iife',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      metafile: true,
      write: false,
      ...options,
    });

  before(async () => {
    const result = await bundle();
    ({ metafile } = result);
    code = result.outputFiles[0]?.text ?? '';
  });

  after(() => stop());

  it('imports no module of Node.js', () => {
    const imports = [...Object.values(metafile.inputs), ...Object.values(metafile.outputs)].flatMap(
      (part) => part.imports,
    );

    expect(imports).not.to.be.empty;
    expect(imports.filter(({ external }) => external)).to.deep.equal([]);
  });

  it('imports no optional package', () => {
    const needed = Object.entries(metafile.inputs).flatMap(([path, { imports }]) =>
      packageOf(path) === OPTIONAL
        ? []
        : imports.filter(({ kind }) => kind !== 'dynamic-import').map((imported) => imported.path),
    );

    expect([...new Set(needed.flatMap((path) => packageOf(path) ?? []))].sort()).to.deep.equal([
      '@noble/hashes',
      'rxjs',
      'tslib',
    ]);
  });

  it('builds without errors and warnings when the package for observability is not installed', async () => {
    const {
      errors,
      warnings,
      metafile: without,
    } = await bundle({ alias: { [OPTIONAL]: './not-installed' }, logLevel: 'silent' });

    expect([...errors, ...warnings]).to.deep.equal([]);
    expect(
      Object.keys(without.inputs).filter((path) => packageOf(path) === OPTIONAL),
    ).to.deep.equal([]);
  });

  it('runs a turn in a context with URL and timers alone', async () => {
    const context = createContext({ URL, setTimeout, clearTimeout });

    runInContext(code, context);

    const texts: unknown = await runInContext('turn()', context);
    expect(JSON.stringify(texts)).to.equal('["It is noon","It is noon"]');
  });

  it('names errors by their classes in minified code', async () => {
    const { outputFiles } = await bundle({ minify: true });
    const context = createContext({ URL, setTimeout, clearTimeout });

    runInContext(outputFiles[0]?.text ?? '', context);

    expect(runInContext('failure()', context)).to.match(/^InvalidArgumentError: /);
  });
});
