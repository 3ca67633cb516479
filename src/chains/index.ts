import type { AnyChainFamily } from './chain.js'
import { evm } from './evm/index.js'
import { solana } from './solana/index.js'
import { ton } from './ton/index.js'
import { tron } from './tron/index.js'

/** Every supported chain family. To add one: add its folder and one entry here. */
export const families: readonly AnyChainFamily[] = [evm, solana, ton, tron]
