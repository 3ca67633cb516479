import type { Address } from 'viem'
import { type LocalChain, usdcAbi } from '../test/support/evm/localChain.js'
import { isPending, isSettled, type Measurement } from './measureLoad.js'
import { amount, type SignedPayment } from './signPayments.js'

export interface SettlementRun {
  /** Receives payments of this run only. */
  readonly payTo: Address
  readonly balanceBefore: bigint
  readonly payments: readonly SignedPayment[]
  readonly measurement: Pick<Measurement, 'exchanges'>
}

const readsAtOnce = 500

export const compareWithChain = async (
  chain: LocalChain,
  claims: SettlementRun,
): Promise<readonly string[]> => {
  const { payTo, balanceBefore, payments, measurement } = claims
  const areUsed = await readUsed(chain, payments)
  const received = (await chain.balanceOf(payTo)) - balanceBefore
  const moved = areUsed.filter((isUsed) => isUsed).length

  const mismatches: string[] = []
  const note = (count: number, what: string): void => {
    if (count > 0) mismatches.push(`${count} ${what}`)
  }
  const count = (isWrong: (answer: string, isUsed: boolean) => boolean): number =>
    measurement.exchanges.filter(({ answer, index }) => isWrong(answer, areUsed[index] === true)).length
  note(
    count((answer, isUsed) => isSettled(answer) && !isUsed),
    'reported as success although no funds moved',
  )
  note(
    count((answer, isUsed) => isUsed && answer !== '' && !isSettled(answer) && !isPending(answer)),
    'reported as failure although funds moved',
  )
  note(
    count((answer) => answer === ''),
    'without a response',
  )
  if (received !== amount * BigInt(moved)) {
    mismatches.push(`${moved} authorizations of ${amount} are used, but ${received} arrived`)
  }
  return mismatches
}

const readUsed = async (
  { client, token }: LocalChain,
  payments: readonly SignedPayment[],
): Promise<readonly boolean[]> => {
  const used: boolean[] = []
  for (let start = 0; start < payments.length; start += readsAtOnce) {
    const contracts = payments.slice(start, start + readsAtOnce).map(({ payer, nonce }) => ({
      address: token.verifyingContract,
      abi: usdcAbi,
      functionName: 'authorizationState' as const,
      args: [payer, nonce] as const,
    }))
    used.push(...(await client.multicall({ contracts, allowFailure: false, batchSize: 0 })))
  }
  return used
}
