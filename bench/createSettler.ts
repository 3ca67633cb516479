import { randomAddress } from '../test/support/evm/authorization.js'
import type { LocalChain } from '../test/support/evm/localChain.js'
import type { PayerWallet } from '../test/support/evm/wallets.js'
import type { Contender } from './launch.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import { proveOnChain } from './proveOnChain.js'
import { createPayers, signPayments } from './signPayments.js'

/** Payments that are settled over a number of connections. */
export interface SettleLoad {
  readonly connections: number
  /** Payments at most. */
  readonly count: number
  readonly limitMs: number
}

/** What a contender did with them. */
export interface SettleMeasurement extends Measurement {
  /** In what its answers and the chain disagree, in sentences. */
  readonly disagreements: readonly string[]
}

/** Has payments settled, measures it and proves it on chain. */
export type Settler = (contender: Contender, load: SettleLoad) => Promise<SettleMeasurement>

// anvil's blocks cost more the more accounts it has, so payers pay again, though never twice at a time.
const payersPerConnection = 2

/** Builds the settler of one chain. */
export const createSettler = (chain: LocalChain): Settler => {
  const payers: PayerWallet[] = []
  return async (contender, { connections, count, limitMs }) => {
    const wanted = Math.min(count, connections * payersPerConnection)
    if (payers.length < wanted) payers.push(...(await createPayers(chain, wanted - payers.length)))
    const payTo = randomAddress()
    // A first transfer to an account costs more gas.
    await chain.mint(payTo, 1n)
    const payments = await signPayments(chain, payers.slice(0, wanted), { count, payTo })
    const bodies = payments.map(({ body }) => body)
    const measurement = await measureLoad(contender, { path: '/settle', bodies, connections, limitMs })
    const disagreements = await proveOnChain(chain, { payTo, balanceBefore: 1n, payments, measurement })
    return { ...measurement, disagreements }
  }
}
