import type { Logger } from '../../../../ports/logger.js'
import { createSignerBalances, type SignerBalances } from '../../../common/signerBalances.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Signers } from '../signers.js'
import { type FeeReading, highestGasPrice } from './fees.js'

export interface GasBalances extends Omit<SignerBalances, 'note'> {
  measure(reading: FeeReading): Promise<void>
}

// A payment by ECDSA to a new recipient in Circle's USDC; most others are cheaper.
export const typicalGas = 103_000n

/** Before the first measurement no signer counts as funded. */
export const createGasBalances = (
  network: string,
  {
    rpc,
    signers,
    gasPerSettlement,
    lowBalanceSettlements,
    logger,
  }: {
    readonly rpc: Rpc
    readonly signers: Signers
    /** Nodes reject simulations and transactions if the sender cannot pay this gas at the full price. */
    readonly gasPerSettlement: bigint
    readonly lowBalanceSettlements: number
    readonly logger: Logger
  },
): GasBalances => {
  const balances = createSignerBalances({ network, lowBalanceSettlements, logger })
  return {
    ...balances,
    measure: async ({ fees, price }) => {
      const floor = gasPerSettlement * (fees === null ? price : highestGasPrice(fees))
      const health = await Promise.all(
        signers.addresses.map(async (signer) => {
          const balance = await rpc.getBalance(signer)
          return { signer, balance, settlementsLeft: countSettlementsLeft(balance, { floor, price }) }
        }),
      )
      balances.update(health)
    },
  }
}

/** How many settlements at a price per gas a balance pays for, all in wei; none below the floor. */
export const countSettlementsLeft = (
  balance: bigint,
  { floor, price }: { readonly floor: bigint; readonly price: bigint },
): number => {
  if (balance < floor) return 0
  // Free gas must not divide by zero.
  const cost = typicalGas * (price > 0n ? price : 1n)
  return Number((balance - floor) / cost) + 1
}
