import { expect } from 'chai';
import { loadProblem } from '../../src/cli/load-problem.js';

const problemOf = (error: unknown, path: string): string => loadProblem(error, path, '/app');

describe('the problem of a module that cannot be loaded', () => {
  it('has what to do for ES module syntax in a CommonJS module', () => {
    const imports = new SyntaxError('Cannot use import statement outside a module');
    const exports = new SyntaxError("Unexpected token 'export'");
    const waits = new Error(
      'Transform failed: Top-level await is currently not supported with the "cjs" output format',
    );
    const set = 'it is a CommonJS module: set "type": "module" in package.json, or name it app';

    expect(problemOf(imports, 'src/app.js')).to.equal(`${imports.message}; ${set}.mjs`);
    expect(problemOf(exports, 'app.ts')).to.equal(`${exports.message}; ${set}.mts`);
    expect(problemOf(waits, 'app.ts')).to.equal(`${waits.message}; ${set}.mts`);
    expect(problemOf(imports, 'app.cjs')).to.equal(
      `${imports.message}; it is a CommonJS module: name it app.mjs`,
    );
    expect(problemOf(imports, 'app.cts')).to.match(/: name it app\.mts$/);
  });

  it('has a way to the line of wrong syntax', () => {
    expect(problemOf(new SyntaxError("Unexpected token '}'"), 'app.mjs')).to.equal(
      `Unexpected token '}'; "node app.mjs" prints the line`,
    );
    expect(problemOf(new Error('no database'), 'app.mjs')).to.equal('no database');
  });
});
