import { PROVIDERS } from '../choose-model.js';
import { command, EXIT } from '../command.js';
import type { Terminal } from '../terminal.js';
import { canStrip } from '../typescript.js';
import { isInRange, ownManifest, packagesOf, versionIn } from './installed.js';
import { OPTIONAL_PACKAGES } from './optional-packages.js';
import { problemOfDatabase, withoutPassword } from './reach-database.js';

/** Variables of the environment that this package reads, besides keys of providers. */
const VARIABLES = [
  'OPENAI_BASE_URL',
  'ANTHROPIC_BASE_URL',
  'GOOGLE_GEMINI_BASE_URL',
  'OPENAI_ORG_ID',
  'OPENAI_PROJECT_ID',
  'ADVISOR_CHAIN_KEY',
];

interface Report {
  readonly version: string;
  readonly node: {
    readonly version: string;
    readonly needs: string;
    readonly isSupported: boolean;
  };
  readonly typescript: 'node' | 'tsx' | 'none';
  /** Names of the variables that are set; never their values. */
  readonly keys: readonly string[];
  readonly missingKeys: readonly string[];
  readonly variables: readonly string[];
  readonly packages: readonly PackageReport[];
  readonly databases: readonly { readonly address: string; readonly problem?: string }[];
  /** All of this in sentences: each makes the exit code 1. */
  readonly problems: readonly string[];
}

interface PackageReport {
  readonly name: string;
  /** Absent if it is not installed. */
  readonly version?: string;
  /** The range of versions that work, if there is one. */
  readonly needs?: string;
  readonly gives: string;
}

export const doctorCommand = command({
  name: 'doctor',
  description: 'Show versions, optional packages with what each gives, and the keys that are set',
  args: {
    json: { type: 'boolean', description: 'Print JSON' },
    database: {
      type: 'string',
      description: 'Also connect to a database: a file of SQLite, postgres://… or redis://…',
      valueHint: 'address',
    },
  },
  repeatable: ['database'],
  examples: ['advisor-chain doctor', 'advisor-chain doctor --database postgres://localhost/chat'],
  notes:
    'Values of keys are never printed. It exits with 1 if Node.js or a package has a version that does not work, or a database does not answer.',
  async run({ args, terminal, all }) {
    const report = await examine(all('database'), terminal);
    if (args.json) terminal.print(JSON.stringify(report, null, 2));
    else printReport(report, terminal);
    return report.problems.length > 0 ? EXIT.failed : EXIT.ok;
  },
});

async function examine(addresses: readonly string[], terminal: Terminal): Promise<Report> {
  const { cwd, env } = terminal;
  const { version = 'unknown', engines, peerDependencies = {} } = ownManifest();
  const needs = engines?.node ?? '>=20.19';
  const node = process.versions.node;
  const providers = Object.values(PROVIDERS);
  const keys = [...new Set(providers.flatMap((provider) => provider.keys))];
  const ai = packagesOf(cwd, '@ai-sdk').filter(
    (name) => !/\/(provider|provider-utils|react|gateway)$/.test(name),
  );
  const gives = {
    ...OPTIONAL_PACKAGES,
    ...Object.fromEntries(ai.map((name) => [name, `--model ${name.slice(8)}:…`])),
  };
  const packages = Object.entries(gives).map(([name, use]): PackageReport => {
    const [installed, range] = [versionIn(cwd, name), peerDependencies[name]];
    return {
      name,
      gives: use,
      ...(installed && { version: installed }),
      ...(range && { needs: range }),
    };
  });
  const databases: { address: string; problem?: string }[] = [];
  for (const address of addresses) {
    terminal.progress(`connecting to ${withoutPassword(address)}`);
    const problem = await problemOfDatabase(address, terminal);
    databases.push({
      address: withoutPassword(address),
      ...(problem !== undefined && { problem }),
    });
  }
  const isSupported = isInRange(node, needs);
  return {
    version,
    node: { version: node, needs, isSupported },
    typescript: canStrip() ? 'node' : versionIn(cwd, 'tsx') === undefined ? 'none' : 'tsx',
    keys: keys.filter((key) => env[key]),
    missingKeys: keys.filter((key) => !env[key]),
    variables: VARIABLES.filter((name) => env[name]),
    packages,
    databases,
    problems: [
      ...(isSupported ? [] : [`Node.js ${node} is too old: ${needs} is needed`]),
      ...packages.flatMap((each) => problemOf(each) ?? []),
      ...databases.flatMap(({ address, problem }) =>
        problem === undefined ? [] : [`${address}: ${problem}`],
      ),
    ],
  };
}

function problemOf({ name, version, needs }: PackageReport): string | undefined {
  if (version === undefined || needs === undefined || isInRange(version, needs)) return undefined;
  return `${name} ${version} does not work: npm install "${name}@${needs}"`;
}

function printReport(report: Report, terminal: Terminal): void {
  const { version, node, typescript, keys, missingKeys, variables, packages, databases, problems } =
    report;
  const head = (text: string): void => terminal.print(`\n${terminal.style('bold', text)}`);
  const types = { node: 'run by Node.js', tsx: 'run by tsx', none: 'not run: npm install -D tsx' };
  terminal.print(
    `advisor-chain ${version}, Node.js ${node.version}, TypeScript ${types[typescript]}`,
  );
  head('Keys');
  terminal.print(`  set:     ${keys.join(', ') || 'none; the offline model answers'}`);
  terminal.print(`  not set: ${missingKeys.join(', ')}`);
  if (variables.length > 0) terminal.print(`  also:    ${variables.join(', ')}`);
  const width = Math.max(...packages.map(({ name }) => name.length));
  const line = ({ name, version: installed, gives }: PackageReport): void =>
    terminal.print(`  ${name.padEnd(width)}  ${(installed ?? '').padEnd(9)} ${gives}`);
  head('Optional packages that are installed');
  packages.filter((each) => each.version !== undefined).forEach(line);
  head('Optional packages that are not');
  packages.filter((each) => each.version === undefined).forEach(line);
  if (databases.length > 0) head('Databases');
  for (const { address, problem } of databases)
    terminal.print(`  ${address}: ${problem ?? 'answers'}`);
  head(problems.length === 0 ? 'No problem found.' : 'Problems');
  for (const problem of problems) terminal.print(`  ${problem}`);
}
