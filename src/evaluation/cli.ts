#!/usr/bin/env node
import { AdvisorChainError } from '../errors.js';
import { reportCommand } from './tool-search-report-command.js';

const USAGE = `advisor-chain tool-search-report --tools tools.json --queries queries.jsonl [--index keyword,regex] [--embedding-model model.js] [--max-results 5]

  --tools        tools as JSON or JSON lines, in the format of MCP servers or of OpenAI: { name, description, inputSchema }
  --queries      queries as JSON or JSON lines: { query, relevant }; relevant lists names of tools, or their ids
  --index        indexes to measure: keyword (default), regex, vector, hybrid (keyword and vector); several by commas are
                 compared with the first on the same queries
  --embedding-model  module whose default export is an EmbeddingModel, for vector and hybrid
  --max-results  maximum number of tools of a search, for the count of tokens

Means have 95 % confidence intervals (paired bootstrap). Tokens are counted by the package gpt-tokenizer if it is installed, otherwise estimated.`;

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
