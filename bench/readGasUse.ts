import { z } from 'zod'
import type { LocalChain } from '../test/support/evm/localChain.js'
import { isSettled } from './measureLoad.js'
import type { Exchange } from './runLoad.js'

export interface GasUse {
  readonly payments: number
  readonly transactions: number
  readonly gasPerPayment: number
  readonly largest: { readonly payments: number; readonly gasPerPayment: number }
}

const settled = z.object({ transaction: z.templateLiteral(['0x', z.string()]) })

/** Of the settlements that succeeded. */
export const readGasUse = async ({ client }: LocalChain, exchanges: readonly Exchange[]): Promise<GasUse> => {
  const answers = exchanges.map(({ answer }) => answer).filter(isSettled)
  const carried = new Map<`0x${string}`, number>()
  for (const answer of answers) {
    const { transaction } = settled.parse(JSON.parse(answer))
    carried.set(transaction, (carried.get(transaction) ?? 0) + 1)
  }
  const uses = await Promise.all(
    [...carried].map(async ([hash, payments]) => {
      const gas = Number((await client.getTransactionReceipt({ hash })).gasUsed)
      return { payments, gas, gasPerPayment: gas / payments }
    }),
  )
  const [largest = { payments: 0, gasPerPayment: 0 }] = uses.toSorted(
    (left, right) => right.payments - left.payments,
  )
  return {
    payments: answers.length,
    transactions: carried.size,
    gasPerPayment: uses.reduce((sum, { gas }) => sum + gas, 0) / answers.length,
    largest,
  }
}
