#!/usr/bin/env node
import { AdvisorChainError } from '../index.js';
import { reportCommand } from './tool-search-report-command.js';

const USAGE = `advisor-chain tool-search-report --tools tools.json --queries queries.jsonl [--index keyword|regex] [--max-results 5]

  --tools        tools as JSON or JSON lines: { name, description, inputSchema }, as MCP servers list them, or as OpenAI has them
  --queries      questions as JSON or JSON lines: { query, relevant }; relevant lists names of tools, or ids if the tools have them
  --index        how to search: keyword (default) or regex
  --max-results  most tools of a search, for the tokens

Tokens are counted by the package gpt-tokenizer if it is installed, and estimated if it is not.`;

const [command, ...args] = process.argv.slice(2);
const wantsHelp = [command, ...args].includes('--help') || command === undefined;
try {
  if (wantsHelp) console.log(USAGE);
  else if (command === 'tool-search-report') console.log(await reportCommand(args));
  else {
    console.error(USAGE);
    process.exitCode = 2;
  }
} catch (error) {
  if (!AdvisorChainError.isInstance(error)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
