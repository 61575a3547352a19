import { expect } from 'chai';
import { serverName, toMcpServer } from '../../src/cli/chat/mcp-address.js';
import { InvalidArgumentError } from '../../src/index.js';

describe('toMcpServer', () => {
  it('splits a program and its arguments, with quotes and backslashes as in a shell', () => {
    const server = toMcpServer(`npx -y "my server" 'a "b"' c\\ d "e \\"f\\" \\n"`);

    expect(server).to.deep.equal({
      command: 'npx',
      args: ['-y', 'my server', 'a "b"', 'c d', 'e "f" \\n'],
      env: {},
      stderr: 'ignore',
    });
  });

  it('sets variables that stand before the program', () => {
    const server = toMcpServer('TOKEN="a b" EMPTY= node server.js KEY=value');

    expect(server).to.deep.include({
      command: 'node',
      args: ['server.js', 'KEY=value'],
      env: { TOKEN: 'a b', EMPTY: '' },
    });
  });

  it('takes an address', () => {
    const server = toMcpServer(' https://example.com/mcp ');

    expect(server).to.deep.equal({ url: 'https://example.com/mcp' });
  });

  for (const text of ['', '  ', 'A=b', 'npx "open', "npx 'open", 'npx end\\'])
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => toMcpServer(text)).to.throw(InvalidArgumentError, /^--mcp /);
    });
});

describe('serverName', () => {
  const cases = {
    'npx -y @modelcontextprotocol/server-everything': 'server-everything',
    'npx -y my-server@1.2.3 ./notes': 'my-server',
    '/usr/bin/node ./servers/files.mjs --root .': 'files',
    'TOKEN=x uvx mcp-server-git': 'mcp-server-git',
    'https://example.com:8080/mcp': 'example_com',
    my_server: 'my_server',
  };
  for (const [text, name] of Object.entries(cases))
    it(`names ${text}`, () => expect(serverName(text, [])).to.equal(name));

  it('counts servers of one name', () => {
    expect(serverName('npx files', ['files'])).to.equal('files2');
    expect(serverName('npx files', ['files', 'files2'])).to.equal('files3');
  });
});
