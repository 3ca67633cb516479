import { type Address, type Hex, isAddressEqual, parseEventLogs } from 'viem'
import { usdcAbi } from '../support/evm/localChain.js'
import type { Payment } from './payments.js'
import type { World } from './world.js'

export interface ChainFact {
  /** `authorizationState` of the token. */
  readonly isUsed: boolean
  /** The transaction that used it, and whether the next event of the token is the expected Transfer. */
  readonly use: { readonly transaction: Hex; readonly isPaid: boolean } | null
}

export interface MinedTransaction {
  readonly transaction: Hex
  readonly signer: Address
  readonly nonce: number
  readonly block: bigint
}

/** Reads all payments at the same block. */
export const readChainFacts = async (
  { chain }: World,
  payments: readonly Payment[],
  fromBlock: bigint,
): Promise<ReadonlyMap<string, ChainFact>> => {
  const { client, token } = chain
  const address = token.verifyingContract
  const head = await client.getBlockNumber({ cacheTime: 0 })
  const [states, logs] = await Promise.all([
    client.multicall({
      blockNumber: head,
      allowFailure: false,
      contracts: payments.map(({ payer, nonce }) => ({
        address,
        abi: usdcAbi,
        functionName: 'authorizationState' as const,
        args: [payer, nonce] as const,
      })),
    }),
    client.getLogs({ address, fromBlock, toBlock: head }),
  ])
  const events = parseEventLogs({ abi: usdcAbi, logs })
  const facts = payments.map((payment, index): [string, ChainFact] => {
    const at = events.findIndex(
      (event) =>
        event.eventName === 'AuthorizationUsed' &&
        event.args.nonce === payment.nonce &&
        isAddressEqual(event.args.authorizer, payment.payer),
    )
    const [use, next] = at === -1 ? [] : events.slice(at, at + 2)
    const isPaid =
      next?.eventName === 'Transfer' &&
      next.transactionHash === use?.transactionHash &&
      isAddressEqual(next.args.from, payment.payer) &&
      isAddressEqual(next.args.to, payment.recipient) &&
      next.args.value === payment.amount
    return [
      payment.authorizationId,
      {
        isUsed: states[index] === true,
        use: use === undefined ? null : { transaction: use.transactionHash, isPaid },
      },
    ]
  })
  return new Map(facts)
}

export const readMinedTransactions = async (
  { chain }: World,
  fromBlock: bigint,
): Promise<readonly MinedTransaction[]> => {
  const head = await chain.client.getBlockNumber({ cacheTime: 0 })
  const found: MinedTransaction[] = []
  for (let number = fromBlock; number <= head; number++) {
    const { transactions } = await chain.client.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { hash, from, nonce } of transactions) {
      if (!chain.facilitators.some(({ address }) => isAddressEqual(address, from))) continue
      found.push({ transaction: hash, signer: from, nonce, block: number })
    }
  }
  return found
}

export const readBalances = async ({ chain, recipients }: World): Promise<ReadonlyMap<string, bigint>> =>
  new Map(
    await Promise.all(
      recipients.map(
        async (recipient): Promise<[string, bigint]> => [
          recipient.toLowerCase(),
          await chain.balanceOf(recipient),
        ],
      ),
    ),
  )
