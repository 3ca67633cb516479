import type { Logger } from '../../../ports/logger.js'
import { createSignerRunway, type SignerRunway } from '../../signerRunway.js'
import type { Rpc } from '../rpc/rpc.js'
import type { FeePayers } from './feePayers.js'
import { baseFee } from './fees.js'

/** How far our accounts on one cluster get with what they own. */
export interface FeeRunway extends Omit<SignerRunway, 'note'> {
  /** Reads the balances. */
  measure(): Promise<void>
}

// What an account without data must keep, or no transaction may take its fee from it.
const rentExemptLamports = 890_880n

/** Builds the runway of one cluster; until it is measured nobody can pay. */
export const createFeeRunway = (
  network: string,
  parts: {
    readonly rpc: Rpc
    readonly feePayers: FeePayers
    /** The most that one payment may add to the fee. */
    readonly maxPriorityFeeLamports: bigint
    readonly lowRunwaySettles: number
    readonly logger: Logger
  },
): FeeRunway => {
  const { rpc, feePayers, maxPriorityFeeLamports, lowRunwaySettles, logger } = parts
  const runway = createSignerRunway({ network, lowRunwaySettles, logger })
  const floor = rentExemptLamports + baseFee + maxPriorityFeeLamports
  return {
    ...runway,
    measure: async () => {
      const health = await Promise.all(
        feePayers.addresses.map(async (signer) => {
          const balance = await rpc.getBalance(signer)
          return { signer, balance, settlesLeft: countSettles(balance, floor) }
        }),
      )
      runway.note(health)
    },
  }
}

/** How many settlements a balance lasts for: none below the floor; what is above it, at the usual fee, before the last. */
const countSettles = (balance: bigint, floor: bigint): number =>
  balance < floor ? 0 : Number((balance - floor) / baseFee) + 1
