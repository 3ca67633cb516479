/** The seven testnets of the specification's sandbox. */
export const sandboxTestnets = [
  'eip155:84532',
  'eip155:11155111',
  'eip155:421614',
  'eip155:11155420',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  'ton:testnet',
  'tron:nile',
] as const
