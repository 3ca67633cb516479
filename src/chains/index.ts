import type { SealedFamily } from './chain.js'
import { evm } from './evm/index.js'
import { solana } from './solana/index.js'
import { ton } from './ton/index.js'
import { tron } from './tron/index.js'

/** Every chain family that this service knows. A new one is a folder and a line. */
export const families: readonly SealedFamily[] = [evm, solana, ton, tron]
