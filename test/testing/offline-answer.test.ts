import { expect } from 'chai';
import fc from 'fast-check';
import type { Message } from '../../src/chat/message.js';
import type { JsonSchema } from '../../src/chat/tool-definition.js';
import { offlineAnswer } from '../../src/testing/index.js';
import { converse, firstCalls, NUMBER, TEXT, text, tool, WHOLE } from './offline-scene.js';

const weather = tool('get_weather', 'Current weather in a city.', { city: text('Name of the city') }, ({ city }) => ({
  temperature: city === 'Rome' ? 24 : 9,
}));
const search = tool('web_search', 'Searches the web.', { query: TEXT });
const email = tool('send_email', 'Sends an email.', { to: text('Recipient address'), 'subject?': TEXT, body: text('Text of the mail') });
const flight = tool(
  'find_flight',
  'Finds a flight between two cities.',
  { from: text('City of departure'), to: text('City of arrival') },
  () => ({
    airline: 'Example Air',
    price: 180,
  }),
);
const hotel = tool('find_hotel', 'Finds a hotel in a city.', { city: TEXT, nights: WHOLE }, ({ nights }) => ({
  price: 90 * (nights as number),
}));
const cost = tool('trip_cost', 'Adds up what a trip costs in total.', { flight_price: NUMBER, hotel_price: NUMBER }, (args) => ({
  total: (args['flight_price'] as number) + (args['hotel_price'] as number),
}));
const add = tool('add', 'Adds two numbers.', { a: NUMBER, b: NUMBER });
const multiply = tool('multiply', 'Multiplies two numbers.', { a: NUMBER, b: NUMBER });
const currency = tool('convert_currency', 'Converts an amount from one currency to another.', {
  amount: NUMBER,
  from: text('Currency code'),
  to: text('Currency code'),
});

/** A question, the tools that are offered, and the calls that it leads to at once. */
const FIRST_CALLS: readonly (readonly [
  question: string,
  tools: readonly (typeof weather)[],
  calls: Readonly<Record<string, object | readonly object[]>>,
])[] = [
  ['What is the weather in Paris and Oslo?', [search, weather, add], { get_weather: [{ city: 'Paris' }, { city: 'Oslo' }] }],
  ['weather paris', [search, weather], { get_weather: { city: 'paris' } }],
  ['Do I need an umbrella in New York?', [add, weather], { get_weather: { city: 'New York' } }],
  ['How is the weather in Lisbon, Portugal?', [weather, email], { get_weather: { city: 'Lisbon, Portugal' } }],
  ['Search the web for the best pizza in Naples', [weather, search, email], { web_search: { query: 'best pizza in Naples' } }],
  ['Email bob@example.org the message "See you at 5"', [search, email], { send_email: { to: 'bob@example.org', body: 'See you at 5' } }],
  [
    'Flights from Oslo to Rome and from Rome to Oslo',
    [hotel, flight],
    {
      find_flight: [
        { from: 'Oslo', to: 'Rome' },
        { from: 'Rome', to: 'Oslo' },
      ],
    },
  ],
  ['How much is a hotel in Rome for 2 nights?', [flight, hotel, weather], { find_hotel: { city: 'Rome', nights: 2 } }],
  ['Add 5 and 7, and multiply 3 by 4', [multiply, add], { add: { a: 5, b: 7 }, multiply: { a: 3, b: 4 } }],
  [
    'Convert 1,200.50 USD to EUR and GBP',
    [add, currency],
    {
      convert_currency: [
        { amount: 1200.5, from: 'USD', to: 'EUR' },
        { amount: 1200.5, from: 'USD', to: 'GBP' },
      ],
    },
  ],
  [
    'What is 12 * (7 + 3)?',
    [weather, tool('calculator', 'Evaluates an arithmetic expression.', { expression: TEXT })],
    { calculator: { expression: '12 * (7 + 3)' } },
  ],
  [
    'Turn on the lights in the kitchen and set the thermostat to 21 degrees',
    [
      tool('setThermostat', 'Sets the target temperature.', { degrees: NUMBER }),
      tool('setLight', 'Turns a light on or off.', { room: { enum: ['kitchen', 'bedroom'] }, on: { type: 'boolean' } }),
    ],
    { setLight: { room: 'kitchen', on: true }, setThermostat: { degrees: 21 } },
  ],
  [
    'Translate "good morning" into French',
    [search, tool('translate', 'Translates a text.', { text: TEXT, language: { enum: ['German', 'French'] } })],
    { translate: { text: 'good morning', language: 'French' } },
  ],
  [
    'Book a table at Noma for 4 people on 15 May 2026 at 19:30',
    [
      hotel,
      tool('book_table', 'Books a table in a restaurant.', {
        restaurant: TEXT,
        people: WHOLE,
        date: { type: 'string', format: 'date' },
        time: TEXT,
      }),
    ],
    { book_table: { restaurant: 'Noma', people: 4, date: '2026-05-15', time: '19:30' } },
  ],
  [
    'What is the mean of 4, 8, 15 and 16?',
    [add, tool('mean', 'Mean of a list of numbers.', { values: { type: 'array', items: NUMBER } })],
    { mean: { values: [4, 8, 15, 16] } },
  ],
  [
    'What is the area of a triangle with a height of 5 cm and a base of 10 cm?',
    [multiply, tool('triangle_area', 'Area of a triangle.', { base: NUMBER, height: NUMBER })],
    { triangle_area: { base: 10, height: 5 } },
  ],
  [
    'Calculate the monthly payment for a loan of $200,000 over 30 years at 4.5% interest',
    [currency, tool('loan_payment', 'Monthly payment of a loan.', { loan_amount: NUMBER, years: WHOLE, interest_rate: NUMBER })],
    { loan_payment: { loan_amount: 200_000, years: 30, interest_rate: 0.045 } },
  ],
  [
    'Read the file /var/data/report.csv without the header',
    [search, tool('read_file', 'Reads a file.', { path: TEXT, 'header?': { type: 'boolean' } })],
    { read_file: { path: '/var/data/report.csv', header: false } },
  ],
  [
    'Show the status of order A-1042',
    [search, tool('order_status', 'Status of an order.', { order_id: TEXT })],
    { order_status: { order_id: 'A-1042' } },
  ],
  [
    'Create a contact with the name Anna Schmidt and the email anna@example.com',
    [
      search,
      tool('create_contact', 'Creates a contact.', {
        contact: { type: 'object', properties: { name: TEXT, email: TEXT }, required: ['name', 'email'] },
      }),
    ],
    { create_contact: { contact: { name: 'Anna Schmidt', email: 'anna@example.com' } } },
  ],
];

describe('offlineAnswer', () => {
  for (const [question, tools, wanted] of FIRST_CALLS) {
    it(`calls ${Object.keys(wanted).join(' and ')} for "${question}"`, () => {
      const calls = firstCalls(question, tools);

      expect(calls).to.deep.equal(
        Object.entries(wanted).flatMap(([name, args]) => [args].flat().map((one: object) => ({ name, args: one }))),
      );
    });
  }

  for (const question of ['Who wrote Hamlet?', 'Hello!', 'Tell me a joke about a city', '']) {
    it(`answers "${question}" in text, since no tool fits`, () => {
      const answer = offlineAnswer({ messages: [{ role: 'user', content: question }], tools: [weather, hotel] });

      expect(answer.toolCalls).to.deep.equal([]);
      expect(answer.text).to.contain('none of those I was offered fits').and.to.contain('get_weather (Current weather in a city)');
    });
  }

  it('uses results of one iteration as arguments of the next, and quotes them', () => {
    const { rounds, text: answer } = converse(
      'Find a flight from Berlin to Lisbon and a hotel in Lisbon for 3 nights. What does the trip cost in total?',
      [cost, hotel, flight],
    );

    expect(rounds).to.deep.equal([
      [
        { name: 'find_flight', args: { from: 'Berlin', to: 'Lisbon' } },
        { name: 'find_hotel', args: { city: 'Lisbon', nights: 3 } },
      ],
      [{ name: 'trip_cost', args: { flight_price: 180, hotel_price: 270 } }],
    ]);
    expect(answer).to.contain('airline Example Air, price 180').and.to.contain('total 450');
  });

  it('gives a list of objects what was asked for together with the results', () => {
    const forecast: JsonSchema = { type: 'object', properties: { city: TEXT, temperature: NUMBER }, required: ['city', 'temperature'] };
    const pack = tool('packing_list', 'What to pack, from the weather.', { forecasts: { type: 'array', items: forecast } }, () => 'a hat');

    const { rounds, text: answer } = converse('What is the weather in Oslo and Rome, and what should I pack?', [weather, pack]);

    expect(rounds[1]).to.deep.equal([
      {
        name: 'packing_list',
        args: {
          forecasts: [
            { city: 'Oslo', temperature: 9 },
            { city: 'Rome', temperature: 24 },
          ],
        },
      },
    ]);
    expect(answer).to.contain('a hat');
  });

  it('calls a tool for each of several results', () => {
    const advice = tool(
      'clothing_advice',
      'What to wear at a temperature.',
      { temperature: NUMBER },
      ({ temperature }) => `${String(temperature)}: a coat`,
    );

    const { rounds } = converse('What is the weather in Oslo and Rome, and what clothing do you advise?', [weather, advice]);

    expect(rounds[1]?.map((call) => call.args)).to.deep.equal([{ temperature: 9 }, { temperature: 24 }]);
  });

  it('reads numbers from results in words', () => {
    const worded = { ...flight, run: () => 'The cheapest flight has a price of 99 EUR.' };

    const { rounds } = converse(
      'Find a flight from Berlin to Lisbon and a hotel in Lisbon for 3 nights. What does the trip cost in total?',
      [worded, hotel, cost],
    );

    expect(rounds[1]).to.deep.equal([{ name: 'trip_cost', args: { flight_price: 99, hotel_price: 270 } }]);
  });

  it('looks up what another tool needs, though nobody asked for it', () => {
    const find = tool('search_flights', 'Searches flights.', { destination: TEXT }, () => [{ flight_id: 'LH123', price: 99 }]);
    const book = tool('book_flight', 'Books a flight.', { flight_id: text('Id of the flight'), passenger: TEXT });

    const { rounds } = converse('Book a flight to Oslo for Anna Schmidt', [book, find]);

    expect(rounds).to.deep.equal([
      [{ name: 'search_flights', args: { destination: 'Oslo' } }],
      [{ name: 'book_flight', args: { passenger: 'Anna Schmidt', flight_id: 'LH123' } }],
    ]);
  });

  it('sends results on as the text of a mail', () => {
    const { rounds } = converse('Send the weather in Oslo to anna@example.com', [weather, email]);

    expect(rounds).to.deep.equal([
      [{ name: 'get_weather', args: { city: 'Oslo' } }],
      [{ name: 'send_email', args: { to: 'anna@example.com', body: '{"temperature":9}' } }],
    ]);
  });

  it('asks for what it cannot find instead of inventing it', () => {
    const { rounds, text: answer } = converse('I need a hotel in Rome', [hotel, weather]);

    expect(rounds).to.deep.equal([]);
    expect(answer).to.equal('I need more to go on: find hotel needs "nights".');
  });

  it('understands the next message as the answer to its question', () => {
    const asked = converse('I need a hotel in Rome', [hotel]);
    const answer: Message[] = [
      ...asked.messages,
      { role: 'assistant', text: asked.text, toolCalls: [] },
      { role: 'user', content: '4 nights' },
    ];

    const { rounds } = converse(answer, [hotel]);

    expect(rounds).to.deep.equal([[{ name: 'find_hotel', args: { city: 'Rome', nights: 4 } }]]);
  });

  it('understands a message that goes on with the last question', () => {
    const earlier: Message[] = [
      { role: 'user', content: 'What is the weather in Oslo?' },
      { role: 'assistant', text: 'Cold.', toolCalls: [] },
      { role: 'user', content: 'And in Rome?' },
    ];

    const { rounds } = converse(earlier, [weather, hotel]);

    expect(rounds).to.deep.equal([[{ name: 'get_weather', args: { city: 'Rome' } }]]);
  });

  it('answers from what was said before', () => {
    const messages: Message[] = [
      { role: 'user', content: 'Hi there. My name is Anna and I live in Oslo.' },
      { role: 'assistant', text: 'Hello.', toolCalls: [] },
      { role: 'user', content: 'What is my name?' },
    ];

    expect(offlineAnswer({ messages }).text).to.equal('Earlier it was said: "My name is Anna and I live in Oslo."');
  });

  it('reports what a tool failed with, and does not try the same again', () => {
    const failed: Message[] = [
      { role: 'user', content: 'What is the weather in Oslo?' },
      { role: 'assistant', text: null, toolCalls: [{ id: '1', name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
      { role: 'tool', toolCallId: '1', toolName: 'get_weather', content: 'the station is down', isError: true },
    ];

    const answer = offlineAnswer({ messages: failed, tools: [weather] });

    expect(answer).to.deep.equal({ text: 'get weather (city Oslo) failed: the station is down', toolCalls: [] });
  });

  it('calls again in a new turn what it called in an earlier one', () => {
    const { messages, text: said } = converse('What is the weather in Oslo?', [weather]);
    const again: Message[] = [
      ...messages,
      { role: 'assistant', text: said, toolCalls: [] },
      { role: 'user', content: 'What is the weather in Oslo?' },
    ];

    expect(converse(again, [weather]).rounds).to.have.length(1);
  });

  describe('with a tool that finds tools', () => {
    const search = {
      name: 'toolSearchTool',
      description: 'Finds tools that are not in your list yet.',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    };
    const weather = {
      name: 'get_weather',
      description: 'The weather of a city.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    };
    const question = 'What is the weather in Oslo?';
    const asked = { role: 'user', content: question } as const;
    const searched: readonly Message[] = [
      asked,
      { role: 'assistant', text: null, toolCalls: [{ id: 's', name: search.name, arguments: JSON.stringify({ query: question }) }] },
      { role: 'tool', toolCallId: 's', toolName: search.name, content: '[{"name":"get_weather","description":"The weather of a city."}]' },
    ];

    it('searches where no tool fits, and then calls what was found', () => {
      expect(offlineAnswer({ messages: [asked], tools: [search] }).toolCalls).to.deep.equal([
        { name: search.name, args: { query: question } },
      ]);
      expect(offlineAnswer({ messages: searched, tools: [search, weather] }).toolCalls).to.deep.equal([
        { name: 'get_weather', args: { city: 'Oslo' } },
      ]);
    });

    it('does not search where a tool fits, where it may call none, or a second time', () => {
      expect(offlineAnswer({ messages: [asked], tools: [search, weather] }).toolCalls[0]?.name).to.equal('get_weather');
      expect(offlineAnswer({ messages: [asked], tools: [search], toolChoice: 'none' }).toolCalls).to.deep.equal([]);
      expect(offlineAnswer({ messages: searched, tools: [search] }).toolCalls).to.deep.equal([]);
    });

    it('does not tell the user of the search', () => {
      const answered: readonly Message[] = [
        ...searched,
        { role: 'assistant', text: null, toolCalls: [{ id: 'w', name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
        { role: 'tool', toolCallId: 'w', toolName: 'get_weather', content: 'sunny' },
      ];

      expect(offlineAnswer({ messages: answered, tools: [search, weather] }).text).to.equal('get weather (city Oslo): sunny');
    });
  });

  it('obeys the choice of tools', () => {
    const question = 'What is the weather in Oslo?';

    expect(firstCalls(question, [weather], { toolChoice: 'none' })).to.deep.equal([]);
    expect(firstCalls('Hello Oslo', [weather], { toolChoice: 'required' })).to.deep.equal([
      { name: 'get_weather', args: { city: 'Oslo' } },
    ]);
    expect(firstCalls(question, [weather, search], { toolChoice: { tool: 'web_search' } }).map((call) => call.name)).to.deep.equal([
      'web_search',
    ]);
    expect(firstCalls('Weather in Oslo and Rome', [weather], { parallelToolCalls: false })).to.have.length(1);
  });

  it('makes a forced call with what it has, since it may not ask', () => {
    expect(firstCalls('I need a hotel in Rome', [hotel], { toolChoice: 'required' })).to.deep.equal([
      { name: 'find_hotel', args: { city: 'Rome' } },
    ]);
  });

  it('answers with JSON where a schema is asked for', () => {
    const schema: JsonSchema = { type: 'object', properties: { city: TEXT, population: WHOLE }, required: ['city', 'population'] };
    const question = 'Milan has a population of 1,371,000.';

    const byOption = offlineAnswer({ messages: [{ role: 'user', content: question }], responseFormat: { schema } });
    const byText = offlineAnswer({
      messages: [{ role: 'user', content: `${question}\nAnswer with JSON. It must fit this JSON Schema:\n${JSON.stringify(schema)}` }],
    });

    expect(JSON.parse(byOption.text ?? '')).to.deep.equal({ city: 'Milan', population: 1_371_000 });
    expect(byText).to.deep.equal(byOption);
  });

  it('takes any text and any schema, and calls only what is offered', () => {
    const schema = fc.oneof(
      fc.json().map((json) => JSON.parse(json) as JsonSchema),
      fc.dictionary(fc.string(), fc.constantFrom(TEXT, NUMBER, { type: 'array' }, { $ref: '#' }, {})),
    );
    const scene = fc.record({
      question: fc.oneof(fc.string(), fc.lorem(), fc.string({ unit: 'binary' })),
      name: fc.string(),
      description: fc.string(),
      properties: schema,
    });

    fc.assert(
      fc.property(scene, ({ question, name, description, properties }) => {
        const offered = { name, description, inputSchema: { type: 'object', properties, required: ['a'] } };
        const { toolCalls, text: answer } = offlineAnswer({ messages: [{ role: 'user', content: question }], tools: [offered, weather] });
        expect(answer === null).to.equal(toolCalls.length > 0);
        expect([name, 'get_weather']).to.include.members(toolCalls.map((call) => call.name));
      }),
      { numRuns: 500 },
    );
  });

  it('stays fast with a thousand tools and with texts that are made to be slow', function () {
    this.timeout(30_000);
    const many = Array.from({ length: 1_000 }, (_, at) =>
      tool(`tool_${at}`, `Does thing ${at} with a city.`, { city: TEXT, amount: NUMBER }),
    );
    const texts = [
      'a'.repeat(1e5),
      '1+'.repeat(5e4),
      'Ab, '.repeat(5e4),
      '[{"'.repeat(3e4),
      "'x".repeat(5e4),
      'a.b@'.repeat(3e4),
      '\nJSON Schema:\n{'.repeat(3e3),
    ];

    for (const slow of texts) firstCalls(slow, [weather, hotel]);
    expect(firstCalls('What is the weather in Oslo?', [...many, weather])).to.have.length(1);
  });
});
