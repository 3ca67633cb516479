import type { Logger } from '../../../ports/logger.js'
import { createSignerBalances, type SignerBalances } from '../../common/signerBalances.js'
import type { Rpc } from '../rpc/rpc.js'
import type { FeePayers } from './feePayers.js'
import { baseFee } from './fees.js'

export interface FeePayerBalances extends Omit<SignerBalances, 'update'> {
  measure(): Promise<void>
}

// Minimum balance of an account without data.
const rentExemptLamports = 890_880n

export const createFeePayerBalances = (
  network: string,
  dependencies: {
    readonly rpc: Rpc
    readonly feePayers: FeePayers
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

/** At the base fee; 0 below the floor that the most expensive payment needs. */
const countSettlementsLeft = (balance: bigint, floor: bigint): number =>
  balance < floor ? 0 : Number((balance - floor) / baseFee) + 1
