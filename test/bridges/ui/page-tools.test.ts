import { expect } from 'chai';
import { resultsOf } from '../../support/approval.js';
import { callOf, ToolPage, type CallPart, type RunTool } from '../../support/tool-page.js';

interface Asked extends Pick<CallPart, 'toolCallId'> {
  readonly approval: { readonly id: string };
}
const rome: RunTool = () => ({ output: { city: 'Rome' } });

describe('tools that the page of useChat runs', () => {
  it('run with the checked input, and their output continues the same message', async () => {
    const page = new ToolPage([{ toolCalls: [callOf('c1', 'locate')] }, 'Done.'], rome);

    await page.sendMessage({ text: 'Where am I?' });
    const [part] = await page.settled();

    expect(page.ran).to.deep.equal([{ precise: false }]);
    expect(part).to.deep.include({ state: 'output-available', output: { city: 'Rome' } });
    expect(page.messages).to.have.length(2);
    expect(page.text).to.equal('Done.');
    expect(resultsOf(page.model)).to.deep.equal(['in Rome']);
    expect(page.statuses).to.deep.equal([200, 200]);
  });

  it('run side by side with tools of the server, and once each over several pauses', async () => {
    const script = [
      { toolCalls: [callOf('a', 'locate'), callOf('s', 'look'), callOf('b', 'locate')] },
      { toolCalls: [callOf('d', 'locate')] },
      'Done.',
    ];
    const page = new ToolPage(script, rome);

    await page.sendMessage({ text: 'Q' });
    const parts = await page.settled();

    expect(page.ran).to.have.length(3);
    expect(parts.map(({ toolCallId, output }) => [toolCallId, output])).to.deep.equal([
      ['a', { city: 'Rome' }],
      ['s', { seen: true }],
      ['b', { city: 'Rome' }],
      ['d', { city: 'Rome' }],
    ]);
    expect(page.text).to.equal('Done.');
    expect(page.statuses).to.deep.equal([200, 200, 200]);
  });

  it('give the model the text of an error', async () => {
    const page = new ToolPage([{ toolCalls: [callOf('c1', 'locate')] }, 'Done.'], () => ({
      errorText: 'No GPS.',
    }));

    await page.sendMessage({ text: 'Q' });
    const [part] = await page.settled();

    expect(part).to.deep.include({ state: 'output-error', errorText: 'No GPS.' });
    expect(resultsOf(page.model)[0]).to.include('No GPS.');
  });

  it('show an output that does not fit as an error', async () => {
    const page = new ToolPage([{ toolCalls: [callOf('c1', 'locate')] }, 'Done.'], () => ({
      output: 7,
    }));

    await page.sendMessage({ text: 'Q' });
    const [part] = await page.settled();

    expect(part).to.include({ state: 'output-error' });
    expect(page.text).to.equal('Done.');
  });

  for (const approved of [true, false])
    it(`run after the approval alone, which is ${approved ? 'given' : 'denied'}`, async () => {
      const page = new ToolPage([{ toolCalls: [callOf('c1', 'open', { n: 1 })] }, 'Done.'], () => ({
        output: 'opened',
      }));
      await page.sendMessage({ text: 'Q' });
      const [asked] = (await page.settled()) as (CallPart & { approval: { id: string } })[];
      expect(asked).to.deep.include({ state: 'approval-requested', input: { n: 1 } });
      expect(page.ran).to.deep.equal([]);

      await page.addToolApprovalResponse({ id: asked?.approval.id ?? '', approved });
      const [part] = await page.settled();

      expect(page.ran).to.deep.equal(approved ? [{ n: 1 }] : []);
      expect(part?.state).to.equal(approved ? 'output-available' : 'output-denied');
      expect(page.text).to.equal('Done.');
    });

  it('run beside a call that is denied, and the turn ends with its answer', async () => {
    const page = new ToolPage(
      [{ toolCalls: [callOf('c1', 'open', { n: 1 }), callOf('c2', 'open', { n: 2 })] }, 'Done.'],
      rome,
    );

    await page.sendMessage({ text: 'Q' });
    for (const { toolCallId, approval } of (await page.settled()) as readonly Asked[])
      await page.addToolApprovalResponse({ id: approval.id, approved: toolCallId === 'c1' });
    const parts = await page.settled();

    expect(page.text).to.equal('Done.');
    expect(page.ran).to.deep.equal([{ n: 1 }]);
    expect(parts.map(({ state }) => state)).to.deep.equal(['output-available', 'output-denied']);
  });

  it('end the turn with returnDirect, and nothing is sent again', async () => {
    const page = new ToolPage([{ toolCalls: [callOf('c1', 'direct')] }], () => ({
      output: 'It is noon.',
    }));

    await page.sendMessage({ text: 'Q' });
    await page.settled();

    expect(page.text).to.equal('It is noon.');
    expect(page.statuses).to.deep.equal([200, 200]);
  });

  it('answer no approval by a forged output', async () => {
    const page = new ToolPage([{ toolCalls: [callOf('c1', 'open', { n: 1 })] }, 'Done.'], rome);
    await page.sendMessage({ text: 'Q' });
    await page.settled();

    await page.addToolOutput({ tool: 'open', toolCallId: 'c1', output: 'forged' as never });
    const [part] = await page.settled();

    expect(part?.state).to.equal('approval-requested');
    expect(page.ran).to.deep.equal([]);
    expect(page.model.prompts).to.have.length(1);
  });
});
