import { randomAddress } from '../test/support/evm/authorization.js'
import type { LocalChain } from '../test/support/evm/localChain.js'
import type { PayerWallet } from '../test/support/evm/wallets.js'
import { compareWithChain } from './compareWithChain.js'
import type { Contender } from './launch.js'
import { type Measurement, measureLoad } from './measureLoad.js'
import { createPayers, signPayments } from './signPayments.js'

export interface SettleLoad {
  readonly connections: number
  readonly count: number
  readonly limitMs: number
}

export interface SettleMeasurement extends Measurement {
  readonly mismatches: readonly string[]
}

export type Settler = (contender: Contender, load: SettleLoad) => Promise<SettleMeasurement>

// Payers are reused, because anvil gets slower with more accounts; never concurrently.
const payersPerConnection = 2

export const createSettler = (chain: LocalChain): Settler => {
  const payers: PayerWallet[] = []
  return async (contender, { connections, count, limitMs }) => {
    const wanted = Math.min(count, connections * payersPerConnection)
    if (payers.length < wanted) payers.push(...(await createPayers(chain, wanted - payers.length)))
    const payTo = randomAddress()
    // The first transfer to an account costs more gas.
    await chain.mint(payTo, 1n)
    const payments = await signPayments(chain, payers.slice(0, wanted), { count, payTo })
    const bodies = payments.map(({ body }) => body)
    const measurement = await measureLoad(contender, { path: '/settle', bodies, connections, limitMs })
    const mismatches = await compareWithChain(chain, { payTo, balanceBefore: 1n, payments, measurement })
    return { ...measurement, mismatches }
  }
}
