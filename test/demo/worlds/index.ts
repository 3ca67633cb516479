import type { DemoWorld } from '../world.js'

type Worlds = Readonly<Record<string, () => Promise<DemoWorld>>>

// Each is loaded when it is opened: the libraries of all families take longer to load than the service to start.

/** Families whose payments we send. */
export const signedWorlds: Worlds = {
  evm: async () => (await import('./evm.js')).openEvmWorld(),
  solana: async () => (await import('./solana.js')).openSolanaWorld(),
  tron: async () => (await import('./tron.js')).openTronWorld(),
  ton: async () => (await import('./ton.js')).openTonWorld(),
}

/** Families whose customers send their payments themselves. */
export const directWorlds: Worlds = {
  near: async () => (await import('./near.js')).openNearWorld(),
  aptos: async () => (await import('./aptos.js')).openAptosWorld(),
  tezos: async () => (await import('./tezos.js')).openTezosWorld(),
  polkadot: async () => (await import('./polkadot.js')).openPolkadotWorld(),
  stacks: async () => (await import('./stacks.js')).openStacksWorld(),
  cosmos: async () => (await import('./cosmos.js')).openCosmosWorld(),
}

/** Families for `npm run demo -- --network <name>`. */
export const worlds: Worlds = { ...signedWorlds, ...directWorlds }
