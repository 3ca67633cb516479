import type { DemoWorld } from '../world.js'
import { openEvmWorld } from './evm.js'
import { openSolanaWorld } from './solana.js'
import { openTonWorld } from './ton.js'
import { openTronWorld } from './tron.js'

/** Families for `npm run demo -- --network <name>`. */
export const worlds: Readonly<Record<string, () => Promise<DemoWorld>>> = {
  evm: openEvmWorld,
  solana: openSolanaWorld,
  tron: openTronWorld,
  ton: openTonWorld,
}
