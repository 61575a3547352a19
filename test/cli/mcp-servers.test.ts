import { expect } from 'chai';
import { McpServers } from '../../src/cli/chat/mcp-servers.js';
import { McpServerError } from '../../src/index.js';
import { failureOf } from '../support/modes.js';

const connect = async (text: string): Promise<unknown> => {
  const servers = new McpServers([text]);
  const error = await failureOf(servers.connect(new AbortController().signal));
  await servers.close();
  return error;
};

describe('the MCP servers of a chat', () => {
  it('have a way to the output of a program that ends, which is not shown', async () => {
    const program = `"${process.execPath}" -e "process.exit(1)"`;

    const error = await connect(program);

    expect(error).to.be.instanceOf(McpServerError);
    expect(String(error)).to.match(/\(connecting\): Connection closed; to see why, run: /);
    expect(String(error).endsWith(program)).to.equal(true);
  });

  it('have no such way for addresses, and programs that do not exist', async () => {
    expect(String(await connect('http://127.0.0.1:1/mcp'))).not.to.include('run:');
    expect(String(await connect('not-installed-at-all'))).not.to.include('run:');
  });
});
