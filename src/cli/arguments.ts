import { parseArgs, type ArgDef, type ArgsDef, type ParsedArgs } from 'citty';
import { nameHint } from '../core/internal/name-hint.js';
import type { Command } from './command.js';
import { UsageError } from './usage-error.js';

/** The module whose client a command uses. */
export const MODULE = {
  type: 'positional',
  description: 'File (.js, .mjs, .ts) that exports a ChatClient',
  required: true,
} as const satisfies ArgDef;

/** The port of a command that serves. */
export const PORT = {
  type: 'string',
  alias: 'p',
  description: 'Port of 127.0.0.1; 0 for any that is free',
  valueHint: 'number',
} as const satisfies ArgDef;

/** Options that every command has. */
export const COMMON = {
  help: { type: 'boolean', alias: 'h', description: 'Show this help' },
} as const satisfies ArgsDef;

/** Parsed arguments, and the values of each option as they were written. */
export interface Parsed {
  readonly args: ParsedArgs;
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/**
 * Parses arguments by the definitions of a command.
 * @throws {@link UsageError} for what they do not define; citty would ignore it
 */
export function parse(raw: readonly string[], { args = {}, repeatable = [] }: Command): Parsed {
  const definitions = { ...args, ...COMMON };
  const { values, positionals } = scan(raw, definitions);
  for (const [name, given] of values)
    if (given.length > 1 && !repeatable.includes(name))
      throw new UsageError(`--${name} is given ${given.length} times`);
  const wanted = Object.values(args).filter((each) => each.type === 'positional');
  const extra = positionals[wanted.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
  try {
    return { args: parseArgs([...raw], definitions), values };
  } catch (error) {
    // citty reports what is missing, and values that are not in a list
    throw new UsageError((error as Error).message);
  }
}

/** Options by their name, and all other arguments. */
function scan(
  raw: readonly string[],
  definitions: ArgsDef,
): { values: Map<string, string[]>; positionals: string[] } {
  const values = new Map<string, string[]>();
  const rest = [...raw];
  const positionals: string[] = [];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') return { values, positionals: [...positionals, ...rest] };
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word);
      continue;
    }
    const [flag, inline] = split(word);
    const { name, definition } = find(flag, definitions);
    const value =
      definition.type === 'boolean' ? flagValue(flag, inline) : textValue(flag, inline, rest);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return { values, positionals };
}

function split(word: string): readonly [string, string?] {
  const at = word.indexOf('=');
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function find(flag: string, definitions: ArgsDef): { name: string; definition: ArgDef } {
  const options = Object.entries(definitions).filter(([, { type }]) => type !== 'positional');
  const found = options.find(([name, definition]) => flagsOf(name, definition).includes(flag));
  if (found) return { name: found[0], definition: found[1] };
  const known = options.flatMap(([name, definition]) => flagsOf(name, definition));
  const hint = nameHint(flag, known, 'see --help').replaceAll('`', '');
  throw new UsageError(`unknown option ${flag}; ${hint}`);
}

function flagsOf(name: string, definition: ArgDef): readonly string[] {
  const aliases = 'alias' in definition ? [definition.alias ?? []].flat() : [];
  const isOn = definition.type === 'boolean' && definition.default === true;
  return [
    `--${name}`,
    ...aliases.map((alias) => (alias.length === 1 ? `-${alias}` : `--${alias}`)),
    ...(isOn ? [`--no-${name}`] : []),
  ];
}

function flagValue(flag: string, inline: string | undefined): string {
  if (inline === undefined || inline === 'true' || inline === 'false') return inline ?? 'true';
  throw new UsageError(`${flag} takes no value, but has "${inline}"`);
}

function textValue(flag: string, inline: string | undefined, rest: string[]): string {
  const value = inline ?? rest.shift();
  if (value === undefined || value === '') throw new UsageError(`${flag} needs a value`);
  if (inline === undefined && value.startsWith('-') && value !== '-')
    throw new UsageError(`${flag} needs a value; write ${flag}=${value} if it is one`);
  return value;
}

/**
 * An option that is an integer.
 * @throws {@link UsageError} if it is not one from `min` to `max`
 */
export function integerOf(
  flag: string,
  text: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `>= ${min}` : `from ${min} to ${max}`;
  throw new UsageError(`${flag} must be an integer ${range}, not ${text}`);
}

/** The port of `--port`; 0 is any that is free. */
export const portOf = (text: string): number => integerOf('--port', text, 0, 65_535);
