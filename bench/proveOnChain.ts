import type { Address } from 'viem'
import { type LocalChain, usdcAbi } from '../test/support/evm/localChain.js'
import { isPending, isSettled, type Measurement } from './measureLoad.js'
import { amount, type SignedPayment } from './signPayments.js'

/** A run of settlements whose answers are held against the chain. */
export interface Claims {
  /** A recipient of this run alone. */
  readonly payTo: Address
  /** What the recipient held before the run. */
  readonly balanceBefore: bigint
  readonly payments: readonly SignedPayment[]
  readonly measurement: Pick<Measurement, 'exchanges'>
}

const readsAtOnce = 500

/** Everything in which the answers of a run and the chain disagree, in sentences; empty when they agree. */
export const proveOnChain = async (chain: LocalChain, claims: Claims): Promise<readonly string[]> => {
  const { payTo, balanceBefore, payments, measurement } = claims
  const areUsed = await readUsed(chain, payments)
  const received = (await chain.balanceOf(payTo)) - balanceBefore
  const moved = areUsed.filter((isUsed) => isUsed).length

  const disagreements: string[] = []
  const note = (count: number, what: string): void => {
    if (count > 0) disagreements.push(`${count} ${what}`)
  }
  const count = (isWrong: (answer: string, isUsed: boolean) => boolean): number =>
    measurement.exchanges.filter(({ answer, index }) => isWrong(answer, areUsed[index] === true)).length
  note(
    count((answer, isUsed) => isSettled(answer) && !isUsed),
    'answered with success although no money moved',
  )
  note(
    count((answer, isUsed) => isUsed && answer !== '' && !isSettled(answer) && !isPending(answer)),
    'answered with failure although the money moved',
  )
  note(
    count((answer) => answer === ''),
    'never answered',
  )
  if (received !== amount * BigInt(moved)) {
    disagreements.push(`${moved} authorizations of ${amount} are used, but ${received} arrived`)
  }
  return disagreements
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
