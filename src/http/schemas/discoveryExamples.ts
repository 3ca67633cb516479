const id = '7d0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7'
const url = 'https://weather.example/v1/forecast'
const network = 'eip155:84532'

const bazaar = {
  info: { input: { type: 'http', method: 'GET', queryParams: { city: 'Lisbon' } } },
  schema: {
    type: 'object',
    properties: { input: { type: 'object', required: ['type', 'method'] } },
    required: ['input'],
  },
}

const compact = {
  id,
  resourceUri: url,
  url,
  type: 'http',
  network,
  discoveredAt: '2026-01-01T00:00:00.000Z',
  metadata: {
    provider: 'Weather',
    description: 'Forecast of the next seven days',
    tags: ['weather'],
    method: 'GET',
  },
}

const resource = {
  ...compact,
  resource: url,
  x402Version: 2,
  t402Version: 2,
  accepts: [
    {
      scheme: 'exact',
      network,
      amount: '10000',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c',
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2' },
    },
  ],
  lastUpdated: '2026-01-02T00:00:00.000Z',
  description: 'Forecast of the next seven days',
  serviceName: 'Weather',
  tags: ['weather'],
  extensions: { bazaar },
  distinctPayers: 12,
}

export const discoveryExamples = {
  id,
  resource,
  summary: compact,
  signature: {
    signature: {
      value: {
        network,
        address: '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c',
        issuedAt: '2026-01-02T00:00:00.000Z',
        signature: `0x${'ab'.repeat(65)}`,
      },
    },
  },
  unlisted: { unlisted: { value: { id, resource: url, listing: 'unlisted' } } },
  relisted: { listed: { value: { id, resource: url, listing: 'listed' } } },
  declaration: { declared: { value: { resource: url, extensions: { bazaar } } } },
  report: {
    listed: {
      value: {
        wouldBeListed: true,
        version: 2,
        key: { url },
        type: 'http',
        rules: [
          {
            rule: 'shape',
            status: 'passed',
            effect: 'rejects',
            sentence: '`bazaar` is an object with the objects `info` and `schema`.',
          },
        ],
      },
    },
  },
}
