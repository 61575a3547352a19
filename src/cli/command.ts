import type { ArgsDef, ParsedArgs } from 'citty';
import type { Terminal } from './terminal.js';

/** Exit codes of all commands. */
export const EXIT = {
  ok: 0,
  /** It failed, or `run` found a difference. */
  failed: 1,
  /** Unknown command, option or argument. */
  usage: 2,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** A command as citty defines its arguments; its help is made from this. */
export interface CommandDefinition<A extends ArgsDef> {
  readonly name: string;
  readonly description: string;
  /** Options and positional arguments, in the notation of citty. */
  readonly args?: A;
  /** Lines such as `advisor-chain explain app.ts`, each with a comment. */
  readonly examples?: readonly string[];
  /** Text at the end of the help. */
  readonly notes?: string;
  /** Options that may be given several times, see {@link Call.all}. */
  readonly repeatable?: readonly string[];
  /** Commands below this one; it then has no `run`. */
  readonly commands?: Readonly<Record<string, Command>>;
  /** Returns its exit code; 0 if it returns nothing. */
  run?(call: Call<A>): Promise<number | void> | number | void;
}

/** A command that is called. */
export interface Call<A extends ArgsDef = ArgsDef> {
  readonly args: ParsedArgs<A>;
  readonly terminal: Terminal;
  /** All values of an option that is repeated. */
  readonly all: (option: string) => readonly string[];
}

/** A command of any arguments. */
export interface Command extends Omit<CommandDefinition<ArgsDef>, 'run'> {
  run?(call: Call<ArgsDef>): Promise<number | void> | number | void;
}

/** Types the arguments of a command by their definitions. */
export function command<const A extends ArgsDef>(definition: CommandDefinition<A>): Command {
  // its run is called with what its own definitions parse
  return definition as unknown as Command;
}
