import type { Hex } from 'viem'
import type { Logger } from '../../../ports/logger.js'
import type { SignerHealth } from '../../chain.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Signers } from '../sending/signers.js'
import { type FeeReading, highestGasPrice } from './fees.js'

/** How far the signers of one network get with what they own. */
export interface GasRunway {
  /** Reads the balances; says once in the log who falls under the threshold, and once who is above it again. */
  measure(reading: FeeReading): Promise<void>
  /** Whether an account can pay for one more settlement, as far as is known. */
  canPay(address: Hex): boolean
  list(): readonly SignerHealth[]
}

// What a transfer by ECDSA to a new recipient costs on FiatToken (about 103k), most other ones being cheaper.
const usualGas = 103_000n

/** Builds the runway of one network; until it is measured nobody can pay. */
export const createGasRunway = (
  network: string,
  {
    rpc,
    signers,
    gasPerSettlement,
    lowRunwaySettles,
    logger,
  }: {
    readonly rpc: Rpc
    readonly signers: Signers
    /** A node takes no transaction, and simulates none, whose sender does not own this much gas at the full price. */
    readonly gasPerSettlement: bigint
    readonly lowRunwaySettles: number
    readonly logger: Logger
  },
): GasRunway => {
  let measured: ReadonlyMap<Hex, SignerHealth> = new Map()

  const reportChange = (before: SignerHealth | undefined, { signer, settlesLeft }: SignerHealth) => {
    const isLow = settlesLeft < lowRunwaySettles
    const wasLow = before !== undefined && before.settlesLeft < lowRunwaySettles
    if (isLow === wasLow) return
    const fields = { network, signer, settlesLeft }
    if (isLow) logger.warn(fields, 'signer.gas_low')
    else logger.info(fields, 'signer.gas_recovered')
  }

  return {
    measure: async ({ fees, price }) => {
      const floor = gasPerSettlement * (fees === null ? price : highestGasPrice(fees))
      const health = await Promise.all(
        signers.addresses.map(async (signer) => {
          const balance = await rpc.getBalance(signer)
          return { signer, balance, settlesLeft: countSettles(balance, { floor, price }) }
        }),
      )
      for (const one of health) reportChange(measured.get(one.signer), one)
      measured = new Map(health.map((one) => [one.signer, one]))
    },
    canPay: (address) => (measured.get(address)?.settlesLeft ?? 0) > 0,
    list: () => [...measured.values()],
  }
}

/**
 * How many settlements at a price per gas a balance lasts for, all in wei. Who owns less than the floor cannot pay
 * for any; what is above it can be spent before the last one.
 */
export const countSettles = (
  balance: bigint,
  { floor, price }: { readonly floor: bigint; readonly price: bigint },
): number => {
  if (balance < floor) return 0
  // Gas for nothing is no reason to divide by it.
  const cost = usualGas * (price > 0n ? price : 1n)
  return Number((balance - floor) / cost) + 1
}
