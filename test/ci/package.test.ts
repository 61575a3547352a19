import { readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Installed {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
}

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
const { packages } = read('package-lock.json') as {
  readonly packages: Readonly<Record<string, Installed>>;
};
const { scripts, engines, peerDependencies } = read('package.json') as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
};

describe('the package', () => {
  const production = Object.entries(packages).filter(
    ([path, { dev, optional, peer }]) => path !== '' && !dev && !optional && !peer,
  );

  it('[F106] installs few packages, with locked contents, none of which runs a script', () => {
    expect(production.map(([path]) => path.replace('node_modules/', ''))).to.deep.equal([
      '@standard-schema/spec',
      'rxjs',
      'tslib',
    ]);
    for (const [path, { hasInstallScript, integrity }] of production) {
      expect(hasInstallScript, path).to.equal(undefined);
      expect(integrity, path).to.match(/^sha512-/);
    }
  });

  it('[D62] [F104] admits no client that ends the process on the oldest Node.js', () => {
    expect(engines.node).to.match(/^>=20\./);
    // version 13 needs Node.js 22: on 20 npm installs it with a warning, and loading it is a segmentation fault
    expect(peerDependencies['better-sqlite3']).to.equal('^12.0.0');
  });

  it('[F106] has no script that npm runs where it is installed', () => {
    expect(scripts).to.not.have.any.keys('preinstall', 'install', 'postinstall', 'prepare');
  });
});
