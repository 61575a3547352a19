import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { McpEndpoint, McpProgram } from '../../bridges/mcp/index.js';

/**
 * The server of `--mcp`: an address, or a program with its arguments, in which quotes and backslashes keep blanks
 * as in a shell; `NAME=value` before it sets a variable. No shell runs it.
 * @throws {@link InvalidArgumentError} without a program, or if a quote is not closed
 */
export function toMcpServer(text: string): McpProgram | McpEndpoint {
  if (/^https?:\/\//i.test(text.trim())) return { url: text.trim() };
  const words = splitWords(text);
  const start = words.findIndex((word) => !VARIABLE.test(word));
  const [command, ...args] = start < 0 ? [] : words.slice(start);
  if (command === undefined)
    throw new InvalidArgumentError('--mcp needs a program or a URL, such as "npx -y my-server"');
  // not the terminal's: a log of the server would appear in the middle of an answer
  const variables = words.slice(0, Math.max(start, 0)).map((word) => VARIABLE.exec(word) ?? []);
  const env = Object.fromEntries(variables.map(([, name = '', value = '']) => [name, value]));
  return { command, args, env, stderr: 'ignore' };
}

/** Programs that start another one, by which a server is named. */
const STARTERS =
  /^(?:npx|npm|pnpm|bunx|bun|deno|node|tsx|uvx|uv|python3?|docker|env|exec|run|dlx)$/;
const VARIABLE = /^([A-Za-z_]\w*)=(.*)$/s;

/** A name for a server, with which the names of its tools begin; not one of `taken`. */
export function serverName(text: string, taken: readonly string[]): string {
  const words = URL.canParse(text) ? [new URL(text).hostname] : splitWords(text);
  const isName = (word: string): boolean =>
    !word.startsWith('-') && !VARIABLE.test(word) && !STARTERS.test(lastPart(word));
  const base = lastPart(words.find(isName) ?? words[0] ?? 'mcp').replace(
    /(?<=.)@.*$|\.[cm]?[jt]s$/,
    '',
  );
  const name = base.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 24);
  if (!taken.includes(name)) return name;
  let count = 2;
  while (taken.includes(`${name}${count}`)) count++;
  return `${name}${count}`;
}

const lastPart = (path: string): string => path.replace(/^.*[/\\]/, '');

/** @throws {@link InvalidArgumentError} if a quote is not closed */
function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  const WORD = /\s*((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)/suy;
  let end = 0;
  for (let match = WORD.exec(text); match; match = WORD.exec(text)) {
    end = WORD.lastIndex;
    words.push(unquote(match[1] as string));
  }
  if (text.slice(end).trim() !== '')
    throw new InvalidArgumentError(`--mcp has a quote or backslash without an end: ${text}`);
  return words;
}

function unquote(word: string): string {
  return word.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gsu,
    (_all, double, single, escaped) =>
      String(single ?? escaped ?? String(double).replaceAll(/\\(["\\$`])/g, '$1')),
  );
}
