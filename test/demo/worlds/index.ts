import type { DemoWorld } from '../world.js'
import { openAptosWorld } from './aptos.js'
import { openCosmosWorld } from './cosmos.js'
import { openEvmWorld } from './evm.js'
import { openNearWorld } from './near.js'
import { openPolkadotWorld } from './polkadot.js'
import { openSolanaWorld } from './solana.js'
import { openStacksWorld } from './stacks.js'
import { openTezosWorld } from './tezos.js'
import { openTonWorld } from './ton.js'
import { openTronWorld } from './tron.js'

type Worlds = Readonly<Record<string, () => Promise<DemoWorld>>>

/** Families whose payments we send. */
export const signedWorlds: Worlds = {
  evm: openEvmWorld,
  solana: openSolanaWorld,
  tron: openTronWorld,
  ton: openTonWorld,
}

/** Families whose customers send their payments themselves. */
export const directWorlds: Worlds = {
  near: openNearWorld,
  aptos: openAptosWorld,
  tezos: openTezosWorld,
  polkadot: openPolkadotWorld,
  stacks: openStacksWorld,
  cosmos: openCosmosWorld,
}

/** Families for `npm run demo -- --network <name>`. */
export const worlds: Worlds = { ...signedWorlds, ...directWorlds }
