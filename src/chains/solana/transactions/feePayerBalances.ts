import type { Logger } from '../../../ports/logger.js'
import { createSignerBalances, type SignerBalances } from '../../common/signerBalances.js'
import type { Rpc } from '../rpc/rpc.js'
import type { FeePayers } from './feePayers.js'
import { baseFee } from './fees.js'

/** How far our accounts on one cluster get with what they own. */
export interface FeePayerBalances extends Omit<SignerBalances, 'note'> {
  /** Reads the balances. */
  measure(): Promise<void>
}

// What an account without data must keep, or no transaction may take its fee from it.
const rentExemptLamports = 890_880n

/** Builds the balances of one cluster; until it is measured nobody can pay. */
export const createFeePayerBalances = (
  network: string,
  dependencies: {
    readonly rpc: Rpc
    readonly feePayers: FeePayers
    /** The most that one payment may add to the fee. */
    readonly maxPriorityFeeLamports: bigint
    readonly lowBalanceSettlements: number
    readonly logger: Logger
  },
): FeePayerBalances => {
  const { rpc, feePayers, maxPriorityFeeLamports, lowBalanceSettlements, logger } = dependencies
  const balances = createSignerBalances({ network, lowBalanceSettlements, logger })
  const floor = rentExemptLamports + baseFee + maxPriorityFeeLamports
  return {
    ...balances,
    measure: async () => {
      const health = await Promise.all(
        feePayers.addresses.map(async (signer) => {
          const balance = await rpc.getBalance(signer)
          return { signer, balance, settlementsLeft: countSettlementsLeft(balance, floor) }
        }),
      )
      balances.update(health)
    },
  }
}

/** How many settlements a balance lasts for: none below the floor; what is above it, at the usual fee, before the last. */
const countSettlementsLeft = (balance: bigint, floor: bigint): number =>
  balance < floor ? 0 : Number((balance - floor) / baseFee) + 1
