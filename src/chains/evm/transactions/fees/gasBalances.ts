import type { Logger } from '../../../../ports/logger.js'
import { createSignerBalances, type SignerBalances } from '../../../common/signerBalances.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Signers } from '../signers.js'
import { type FeeReading, highestGasPrice } from './fees.js'

/** How far the signers of one network get with what they own. */
export interface GasBalances extends Omit<SignerBalances, 'note'> {
  /** Reads the balances. */
  measure(reading: FeeReading): Promise<void>
}

// What a transfer by ECDSA to a new recipient costs on FiatToken (about 103k), most other ones being cheaper.
const typicalGas = 103_000n

/** Builds the balances of one network; until it is measured nobody can pay. */
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
    /** A node takes no transaction, and simulates none, whose sender does not own this much gas at the full price. */
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

/**
 * How many settlements at a price per gas a balance lasts for, all in wei. Who owns less than the floor cannot pay
 * for any; what is above it can be spent before the last one.
 */
export const countSettlementsLeft = (
  balance: bigint,
  { floor, price }: { readonly floor: bigint; readonly price: bigint },
): number => {
  if (balance < floor) return 0
  // Gas for nothing is no reason to divide by it.
  const cost = typicalGas * (price > 0n ? price : 1n)
  return Number((balance - floor) / cost) + 1
}
