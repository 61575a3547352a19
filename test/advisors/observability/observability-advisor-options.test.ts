import { inspect } from 'node:util';
import { expect } from 'chai';
import { InvalidArgumentError, ObservabilityAdvisor } from '../../../src/index.js';

describe('options of ObservabilityAdvisor', () => {
  for (const [options, message] of [
    [{ tracer: null }, 'tracer must be a Tracer'],
    [{ tracer: {} }, 'tracer must be a Tracer'],
    [{ tracer: 'tracer' }, 'tracer must be a Tracer'],
    [{ meter: null }, 'meter must be a Meter'],
    [{ meter: {} }, 'meter must be a Meter'],
    [{ meter: { createHistogram: () => ({}) } }, 'meter must be a Meter'],
    [{ captureContent: 'yes' }, 'captureContent must be true or false'],
    [{ captureContent: null }, 'captureContent must be true or false'],
    [{ redact: null }, 'redact must be a function'],
    [{ redact: /secret/ }, 'redact must be a function'],
    [{ maxContentLength: 0 }, 'maxContentLength must be an integer >= 1'],
    [{ maxContentLength: -1 }, 'maxContentLength must be an integer >= 1'],
    [{ maxContentLength: 1.5 }, 'maxContentLength must be an integer >= 1'],
    [{ maxContentLength: NaN }, 'maxContentLength must be an integer >= 1'],
    [{ maxContentLength: Infinity }, 'maxContentLength must be an integer >= 1'],
    [{ maxContentLength: '8192' }, 'maxContentLength must be an integer >= 1'],
    [{ maxContentLength: null }, 'maxContentLength must be an integer >= 1'],
    [{ attributes: null }, 'attributes must be a plain object or a function'],
    [{ attributes: 'tier' }, 'attributes must be a plain object or a function'],
    [{ attributes: ['tier'] }, 'attributes must be a plain object or a function'],
    [{ spanName: null }, 'spanName must be a non-blank string or a function'],
    [{ spanName: 7 }, 'spanName must be a non-blank string or a function'],
    [{ order: NaN }, 'order must be a finite number'],
    [{ order: Infinity }, 'order must be a finite number'],
    [{ order: '1' }, 'order must be a finite number'],
    [{ order: null }, 'order must be a finite number'],
  ] as const)
    it(`are rejected: ${inspect(options)}`, () => {
      expect(() => new ObservabilityAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `ObservabilityAdvisor: ${message}`,
      );
    });

  it('are rejected with a short message', () => {
    const secret = 'a-text-of-the-application'.repeat(10);

    expect(() => new ObservabilityAdvisor({ attributes: secret as never }))
      .to.throw(InvalidArgumentError)
      .with.property('message')
      .with.length.below(200);
  });

  it('may all be undefined', () => {
    const names = [
      'tracer',
      'meter',
      'captureContent',
      'redact',
      'maxContentLength',
      'attributes',
      'spanName',
      'order',
    ];
    const absent = Object.fromEntries(names.map((name) => [name, undefined]));

    expect(new ObservabilityAdvisor(absent).order).to.equal(new ObservabilityAdvisor().order);
  });
});
