import { type Address, type Hex, isAddressEqual, parseEventLogs } from 'viem'
import { uptoRouterAbi } from '../../src/chains/evm/contracts/uptoRouterAbi.js'
import { batchSettlementAbi, batchSettlementAddress } from '../support/evm/channels.js'
import { usdcAbi } from '../support/evm/localChain.js'
import { permitTokenAbi } from '../support/evm/uptoRouter.js'
import type { Payment } from './payments.js'
import type { World } from './world.js'

export interface ChainFact {
  /** Of the token: `authorizationState`, or whether the payer's first permit was used. */
  readonly isUsed: boolean
  /** The transaction that used it, and whether the expected Transfer belongs to it. */
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
  { chain, router }: World,
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
      contracts: payments.map(({ payer, tokenNonce }) =>
        tokenNonce !== null
          ? { address, abi: usdcAbi, functionName: 'authorizationState', args: [payer, tokenNonce] }
          : { address, abi: permitTokenAbi, functionName: 'nonces', args: [payer] },
      ),
    }),
    client.getLogs({ address: [address, router, batchSettlementAddress], fromBlock, toBlock: head }),
  ])
  const isTransfer = (event: TokenEvent | undefined, { payer, recipient, amount }: Payment): boolean =>
    event?.eventName === 'Transfer' &&
    isAddressEqual(event.args.from, payer) &&
    isAddressEqual(event.args.to, recipient) &&
    event.args.value === amount
  const events = parseEventLogs({ abi: usdcAbi, logs })
  const deposited = parseEventLogs({ abi: batchSettlementAbi, eventName: 'Deposited', logs })
  const settled = parseEventLogs({ abi: uptoRouterAbi, eventName: 'Settled', logs })

  const findPermitUse = (payment: Payment): ChainFact['use'] => {
    const use = settled.find(({ args }) => isAddressEqual(args.owner, payment.payer))
    if (use === undefined) return null
    const { to, amount } = use.args
    const isOwn = isAddressEqual(to, payment.recipient) && amount === payment.amount
    const isMoved = events.some(
      (event) => event.transactionHash === use.transactionHash && isTransfer(event, payment),
    )
    return { transaction: use.transactionHash, isPaid: isOwn && isMoved }
  }
  const findAuthorizationUse = (payment: Payment): ChainFact['use'] => {
    const at = events.findIndex(
      (event) =>
        event.eventName === 'AuthorizationUsed' &&
        event.args.nonce === payment.tokenNonce &&
        isAddressEqual(event.args.authorizer, payment.payer),
    )
    const [use, next] = at === -1 ? [] : events.slice(at, at + 2)
    if (use === undefined) return null
    const { channel } = payment
    if (channel !== null) {
      const isPaid = deposited.some(
        ({ transactionHash, args: { channelId, amount } }) =>
          transactionHash === use.transactionHash && channelId === channel.id && amount === payment.amount,
      )
      return { transaction: use.transactionHash, isPaid }
    }
    const isPaid = next?.transactionHash === use.transactionHash && isTransfer(next, payment)
    return { transaction: use.transactionHash, isPaid }
  }
  const facts = payments.map((payment, index): [string, ChainFact] => {
    const use = payment.scheme === 'upto' ? findPermitUse(payment) : findAuthorizationUse(payment)
    return [payment.authorizationId, { isUsed: Boolean(states[index]), use }]
  })
  return new Map(facts)
}

type TokenEvent = ReturnType<typeof parseEventLogs<typeof usdcAbi>>[number]

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
