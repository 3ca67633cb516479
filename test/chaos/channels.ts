import { setTimeout as sleep } from 'node:timers/promises'
import { getAddress, type Hex } from 'viem'
import { z } from 'zod'
import {
  type ChannelBody,
  claimBody,
  depositBody,
  planChannel,
  rowOf,
  sweepBody,
} from '../chains/evm/channels/channelScene.js'
import {
  batchSettlementAbi,
  batchSettlementAddress,
  erc3009DepositNonce,
  readChannel,
} from '../support/evm/channels.js'
import type { EoaWallet } from '../support/evm/wallets.js'
import type { Violation } from './audit.js'
import type { Payment, PlannedPayment } from './payments.js'
import type { World } from './world.js'

/* Deposits are payments like others; what they secure is claimed and paid out by a merchant that repeats its requests. */

/** The payer's key signs vouchers; the nonce of the payment is the salt of the channel and of its deposit. */
export const openDeposit = async (
  { chain, channelAuthorizer: authorizer }: Pick<World, 'chain' | 'channelAuthorizer'>,
  wallet: EoaWallet,
  { nonce, amount, recipient }: Pick<PlannedPayment, 'nonce' | 'amount' | 'recipient'>,
) => {
  const channel = planChannel(chain, {
    wallet,
    authorizer,
    voucherKey: wallet,
    payTo: getAddress(recipient),
    price: amount,
    config: { salt: nonce },
  })
  return {
    channel,
    body: await depositBody(channel, { amount, balance: 0n, authorization: { salt: nonce } }),
    /** Of the token. */
    nonce: erc3009DepositNonce(channel.id, nonce),
  }
}

const answered = z.object({ success: z.boolean(), errorReason: z.string().optional() })
const deadlineMs = 15_000
const pauseMs = 400

let requests = 0

/** Each request goes to the other instance. Null: no answer that says anything. */
const settle = async (
  { instances }: Pick<World, 'instances'>,
  body: ChannelBody,
): Promise<z.infer<typeof answered> | null> => {
  requests += 1
  const { url } = instances[requests % 2 === 0 ? 0 : 1]
  try {
    const response = await fetch(`${url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(deadlineMs),
    })
    return response.status === 200 ? answered.parse(await response.json()) : null
  } catch {
    return null
  }
}

/** One claim of what is deposited for each receiver, and its sweep; an audit finds what fails. */
export const collect = async (world: World, payments: readonly Payment[]): Promise<void> => {
  const deposited = await Promise.all(
    payments.map(async ({ channel, amount }) => {
      const isOpen = channel !== null && (await readChannel(world.chain, channel.config)).balance >= amount
      return isOpen ? [channel] : []
    }),
  )
  const channels = deposited.flat()
  for (const receiver of new Set(channels.map(({ config }) => config.receiver))) {
    const own = channels.filter(({ config }) => config.receiver === receiver)
    const [first] = own
    if (first === undefined) continue
    const rows = own.map((channel) => rowOf(channel, BigInt(channel.requirements.amount)))
    await settle(world, await claimBody(first, await Promise.all(rows)))
    await settle(world, sweepBody(first))
  }
}

/** Beside clients and faults. */
export const collectUntil = async (
  world: World,
  payments: readonly Payment[],
  stop: AbortSignal,
): Promise<void> => {
  while (!stop.aborted) {
    // The chain may not answer during a fault.
    await collect(world, payments).catch(() => undefined)
    await sleep(pauseMs)
  }
}

/** All that was deposited is claimed, and all that was claimed is paid out. */
export const checkCollected = async (
  { chain }: Pick<World, 'chain'>,
  payments: readonly Payment[],
): Promise<readonly Violation[]> => {
  const channels = payments.flatMap(({ channel, authorizationId }) =>
    channel === null ? [] : [{ ...channel, authorizationId }],
  )
  const claimed = await Promise.all(
    channels.map(async ({ authorizationId, config, id, requirements }) => {
      const { totalClaimed } = await readChannel(chain, config)
      if (totalClaimed === BigInt(requirements.amount)) return []
      const what = `of ${id} ${totalClaimed} are claimed instead of ${requirements.amount}`
      return [{ rule: 'what a channel secures is claimed', authorizationId, what }]
    }),
  )
  const receivers = [...new Set(channels.map(({ config }) => config.receiver))]
  const paid = await Promise.all(
    receivers.map(async (receiver) => {
      const [due, settled] = await readTotals(chain, receiver)
      if (due === settled) return []
      const what = `${receiver} was paid ${settled} of ${due}`
      return [{ rule: 'what was claimed is paid out', authorizationId: null, what }]
    }),
  )
  return [...claimed, ...paid].flat()
}

const readTotals = ({ client, token }: World['chain'], receiver: Hex) =>
  client.readContract({
    address: batchSettlementAddress,
    abi: batchSettlementAbi,
    functionName: 'receivers',
    args: [receiver, token.verifyingContract],
  })
