import type { DemoWorld } from '../world.js'
import { openEvmWorld } from './evm.js'
import { openSolanaWorld } from './solana.js'
import { openTonWorld } from './ton.js'
import { openTronWorld } from './tron.js'

/** The families that `npm run demo -- --network <name>` knows. */
export const worlds: Readonly<Record<string, () => Promise<DemoWorld>>> = {
  evm: openEvmWorld,
  solana: openSolanaWorld,
  tron: openTronWorld,
  ton: openTonWorld,
}
