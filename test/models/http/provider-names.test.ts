import { expect } from 'chai';
import { providerAt } from '../../../src/models/http/provider-names.js';

describe('providerAt', () => {
  const rows: readonly (readonly [baseURL: string, name: string, address: string, port: number])[] =
    [
      ['https://api.openai.com/v1', 'openai', 'api.openai.com', 443],
      ['https://eu.api.openai.com/v1', 'openai', 'eu.api.openai.com', 443],
      ['https://ours.openai.azure.com/openai', 'azure.ai.openai', 'ours.openai.azure.com', 443],
      ['https://foo-openai.azure.com', 'openai', 'foo-openai.azure.com', 443],
      [
        'https://us-central1-aiplatform.googleapis.com/v1',
        'gcp.vertex_ai',
        'us-central1-aiplatform.googleapis.com',
        443,
      ],
      [
        'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1',
        'aws.bedrock',
        'bedrock-runtime.us-east-1.amazonaws.com',
        443,
      ],
      [
        'http://ec2-1-2-3-4.compute-1.amazonaws.com:8000/v1',
        'openai',
        'ec2-1-2-3-4.compute-1.amazonaws.com',
        8000,
      ],
      ['https://api.groq.com./openai/v1', 'groq', 'api.groq.com', 443],
      ['http://127.0.0.1:11434/v1', 'openai', '127.0.0.1', 11434],
      ['http://[::1]/v1', 'openai', '::1', 80],
    ];
  for (const [baseURL, name, address, port] of rows)
    it(`maps ${baseURL} to ${name}`, () => {
      expect(providerAt(baseURL, 'openai')).to.deep.equal({ name, address, port });
    });

  it('prefers a given name', () => {
    expect(providerAt('http://127.0.0.1/v1', 'openai', 'ours')).to.include({ name: 'ours' });
  });

  it('has no address without a valid URL', () => {
    expect(providerAt('nowhere', 'openai')).to.deep.equal({ name: 'openai' });
  });
});
