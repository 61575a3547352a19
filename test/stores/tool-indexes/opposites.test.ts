import { expect } from 'chai';
import { HybridToolIndex, KeywordToolIndex, RegexToolIndex } from '../../../src/index.js';
import { namesOf, tool } from '../../support/tool-index-laws.js';

const TOOLS = [
  tool('server_power_on', 'Controls the power of a server.'),
  tool('server_power_off', 'Controls the power of a server.'),
  tool('vote_up', 'Votes for a post.'),
  tool('vote_down', 'Votes for a post.'),
  tool('sign_in', 'Opens a session for the user of an account.'),
  tool('sign_out', 'Closes a session.'),
  tool('deleteMessage', 'Deletes a message of a chat.'),
  tool('deleteAllMessages', 'Deletes the messages of a chat.'),
  tool('zoomIn', 'Changes the scale of the map.'),
  tool('zoomOut', 'Changes the scale of the map.'),
];

const QUESTIONS = {
  'power off the server': 'server_power_off',
  'power on the server': 'server_power_on',
  'Please power off the server on Monday.': 'server_power_off',
  'vote down': 'vote_down',
  'I want to vote up this post': 'vote_up',
  'sign out of my account': 'sign_out',
  'sign in to my account': 'sign_in',
  'delete all messages': 'deleteAllMessages',
  'delete the message': 'deleteMessage',
  'zoom out': 'zoomOut',
};

describe('opposite tools', () => {
  for (const references of [TOOLS, TOOLS.toReversed()])
    for (const [query, name] of Object.entries(QUESTIONS))
      it(`[D90] ${query}, with ${references[0]?.name} as the first tool`, async () => {
        const index = new KeywordToolIndex();
        index.index({ session: 's', references });

        expect((await namesOf(index, { query }))[0]).to.equal(name);
      });

  it('[D90] leaves the others in their places', async () => {
    const index = new KeywordToolIndex();
    index.index({ session: 's', references: TOOLS });
    const query = { query: 'server vote session message', maxResults: 10 };

    const found = await namesOf(index, query);

    expect(found).to.have.length(8);
    expect(await namesOf(index, query)).to.deep.equal(found);
  });
});

describe('a question in a script without spaces', () => {
  const index = new RegexToolIndex();
  index.index({
    session: 's',
    references: [
      tool('delete', '删除文件'),
      tool('weather', '查询天气预报'),
      tool('获取_订单', '订单'),
    ],
  });

  for (const [query, names] of [
    ['北京的天气怎么样?', ['weather']],
    ['删除[这个]文件!', ['delete']],
    ['(天气|新闻)?', ['weather']],
    ['天気は?天气は?', ['weather']],
    ['获取_*', ['获取_订单']],
    ['^获取_.+', ['获取_订单']],
  ] as const)
    it(`[D90] is text, unless it is an explicit pattern: ${query}`, async () => {
      expect(await namesOf(index, { query })).to.deep.equal(names);
    });
});

describe('a hybrid of keywords and patterns', () => {
  const make = async (weights?: readonly number[]) => {
    const index = new HybridToolIndex({
      indexes: [new KeywordToolIndex(), new RegexToolIndex()],
      weights,
    });
    const references = [
      tool('read_mail', 'Reads mail.'),
      tool('send_mail_now', 'Sends mail reads are counted for each reader of the mail'),
      tool('make_reader', 'Makes a mail reader.'),
    ];
    await index.index({ session: 's', references });
    return index;
  };

  it('[D90] ranks questions by the keywords alone', async () => {
    const query = { query: 'reads the mail' };
    const keywords = new KeywordToolIndex();
    const hybrid = await make();
    keywords.index({ session: 's', references: [...hybrid['referencesOf']('s')] });
    const best = await namesOf(keywords, query);

    expect((await namesOf(hybrid, query)).slice(0, best.length)).to.deep.equal(best);
  });

  it('[D90] ranks patterns by both, and by given weights', async () => {
    expect((await namesOf(await make(), { query: '^send_.*' }))[0]).to.equal('send_mail_now');
    expect((await namesOf(await make([1, 5]), { query: 'make reader' }))[0]).to.equal(
      'make_reader',
    );
  });
});
