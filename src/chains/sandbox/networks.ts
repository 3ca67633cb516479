/** CAIP-2 identifiers. */
export const sandboxNetworks = [
  'eip155:84532',
  'eip155:11155111',
  'eip155:421614',
  'eip155:11155420',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  'ton:testnet',
  'tron:nile',
] as const
