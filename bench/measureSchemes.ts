import { getAddress, type Hex } from 'viem'
import { z } from 'zod'
import { locateUptoRouter } from '../src/chains/evm/contracts/routers.js'
import { streamOpened } from '../src/protocol/streams.js'
import {
  type Channel,
  claimBody,
  depositBody,
  openChannelOnChain,
  planChannel,
  refundOrder,
  rowOf,
  sweepBody,
  voucherBody,
} from '../test/chains/evm/channels/channelScene.js'
import { randomAddress, unixNow } from '../test/support/evm/authorization.js'
import { planHold, signCapture, signVoid } from '../test/support/evm/holds.js'
import type { LocalChain } from '../test/support/evm/localChain.js'
import { exactPayment } from '../test/support/evm/payment.js'
import { uptoPayment } from '../test/support/evm/upto.js'
import { createEoa, type EoaWallet } from '../test/support/evm/wallets.js'
import type { Contender } from './launch.js'
import type { Scale } from './options.js'
import { amount, createPayers } from './signPayments.js'
import { withStage } from './stage.js'
import { figure, printTable, toColumns } from './table.js'
import type { Verdict } from './verdict.js'

const repetitions = 25
const claimSizes = [1, 10, 50, 100] as const
const maximum = amount * 10n
const channelBalance = 10_000_000n

interface Step {
  readonly scheme: string
  readonly request: string
  /** Who waits for it. */
  readonly when: 'before the first request' | 'each request' | 'now and then' | 'at the end'
  readonly latencies: readonly number[]
  /** Of each transaction. */
  readonly gas: readonly number[]
  readonly rows?: number
}

/** What one request of each scheme costs on EVM: the time of its answer, and the gas of its transaction. */
export const measureSchemes = async (scale: Scale): Promise<readonly Verdict[]> => {
  const stage = { hasRouter: true, hasBatchSettlement: true, hasAuthCapture: true }
  await withStage(stage, async ({ chain, ours }) => {
    const count = Math.max(5, Math.ceil(repetitions * scale))
    const table = printTable(
      'Schemes',
      `One request after the other, each transaction mined at once; ${count} of each. Receivers have a balance.`,
      [
        { name: 'scheme', width: 12 },
        { name: 'request', width: 18 },
        { name: 'when', width: 24 },
        ...toColumns('p50 ms', 'gas', 'gas of a row'),
      ],
    )
    const parts = [measureExact, measureUpto, measureStream, measureChannel, measureClaims, measureHold]
    for (const part of parts) {
      // Without the first, whose code is not compiled yet.
      await part(chain, ours, 3)
      for (const { scheme, request, when, latencies, gas, rows = 1 } of await part(chain, ours, count)) {
        const [time, used] = [median(latencies), median(gas)]
        const ofRow = rows === 1 || used === null ? '' : figure(used / rows)
        table.row(
          scheme,
          request,
          when,
          figure(time ?? Number.NaN),
          used === null ? 'none' : figure(used),
          ofRow,
        )
      }
    }
  })
  return []
}

type Part = (chain: LocalChain, ours: Contender, count: number) => Promise<readonly Step[]>

const median = (values: readonly number[]): number | null =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? null

const answered = z.looseObject({ transaction: z.string().optional() })

/** Posts bodies one after the other. */
const createStep = async (
  { client }: LocalChain,
  { url }: Contender,
  named: Pick<Step, 'scheme' | 'request' | 'when' | 'rows'>,
  path: string,
  bodies: readonly object[],
): Promise<Step> => {
  const latencies: number[] = []
  const gas: number[] = []
  for (const body of bodies) {
    const startedAt = performance.now()
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    latencies.push(performance.now() - startedAt)
    if (!response.ok || /"(isValid|success)":false/.test(text)) {
      throw new Error(`${named.scheme}, ${named.request}: ${response.status} ${text}`)
    }
    const { transaction } = answered.parse(JSON.parse(text))
    if (transaction?.startsWith('0x') !== true) continue
    const receipt = await client.getTransactionReceipt({ hash: `0x${transaction.slice(2)}` })
    gas.push(Number(receipt.gasUsed))
  }
  return { ...named, latencies, gas }
}

/** The first transfer to an account costs more gas. */
const createReceiver = async (chain: LocalChain) => {
  const receiver = getAddress(randomAddress())
  await chain.mint(receiver, 1n)
  return receiver
}

const measureExact: Part = async (chain, ours, count) => {
  const payTo = await createReceiver(chain)
  const payers = await createPayers(chain, count)
  const bodies = await Promise.all(payers.map((wallet) => exactPayment({ chain, wallet, payTo, amount })))
  const named = { scheme: 'exact', when: 'each request' } as const
  return [
    await createStep(chain, ours, { ...named, request: 'verify' }, '/verify', bodies),
    await createStep(chain, ours, { ...named, request: 'settle' }, '/settle', bodies),
  ]
}

const findRouter = ({ facilitators: [first] }: LocalChain) => {
  if (first === undefined) throw new Error('keys are missing')
  return locateUptoRouter([first.address]).address
}

const measureUpto: Part = async (chain, ours, count) => {
  const payTo = await createReceiver(chain)
  const payers = await createPayers(chain, count)
  const router = findRouter(chain)
  const bodies = await Promise.all(
    payers.map((wallet) => uptoPayment({ chain, wallet, router, payTo, maxAmount: maximum })),
  )
  const charged = bodies.map((body) => ({ ...body, settleAmount: String(amount) }))
  const named = { scheme: 'upto', when: 'each request' } as const
  return [
    await createStep(chain, ours, { ...named, request: 'verify' }, '/verify', bodies),
    await createStep(chain, ours, { ...named, request: 'settle' }, '/settle', charged),
  ]
}

const measureStream: Part = async (chain, ours, count) => {
  const payTo = await createReceiver(chain)
  const payers = await createPayers(chain, count)
  const router = findRouter(chain)
  const opened: { readonly streamId: string; readonly token: string | undefined }[] = []
  const openings: number[] = []
  for (const wallet of payers) {
    const permit = { deadline: BigInt(unixNow() + 3_600) }
    const body = await uptoPayment({ chain, wallet, router, payTo, maxAmount: maximum, permit })
    const startedAt = performance.now()
    const response = await fetch(`${ours.url}/v1/stream/open`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { stream, streamToken } = streamOpened.parse(await response.json())
    openings.push(performance.now() - startedAt)
    opened.push({ streamId: stream.id, token: streamToken })
  }
  const tokens = opened.map(({ streamId, token }) => ({
    streamId,
    ...(token === undefined ? {} : { token }),
  }))
  const updates = tokens.map((each) => ({ ...each, amount: String(amount), sequence: 1 }))
  const scheme = 'stream'
  const update = { scheme, request: 'update', when: 'each request' } as const
  const close = { scheme, request: 'close', when: 'at the end' } as const
  return [
    { scheme, request: 'open', when: 'before the first request', latencies: openings, gas: [] },
    await createStep(chain, ours, update, '/v1/stream/update', updates),
    await createStep(chain, ours, close, '/v1/stream/close', tokens),
  ]
}

const measureChannel: Part = async (chain, ours, count) => {
  const payTo = await createReceiver(chain)
  const channels = Array.from({ length: count }, () => planChannel(chain, { payTo, price: amount }))
  const each = <Body>(create: (channel: Channel) => Promise<Body>) => Promise.all(channels.map(create))
  const deposits = await each((channel) => depositBody(channel, { amount: channelBalance }))
  const vouchers = await each((channel) => voucherBody(channel, 2n * amount))
  const refunds = await each((channel) =>
    refundOrder(channel, { charged: 2n * amount, amount: channelBalance - 2n * amount }),
  )
  const scheme = 'channel'
  const deposit = { scheme, request: 'deposit', when: 'before the first request' } as const
  const voucher = { scheme, request: 'voucher (verify)', when: 'each request' } as const
  const refund = { scheme, request: 'claim and refund', when: 'at the end' } as const
  return [
    await createStep(chain, ours, deposit, '/settle', deposits),
    await createStep(chain, ours, voucher, '/verify', vouchers),
    await createStep(chain, ours, refund, '/settle', refunds),
  ]
}

/** Channels of one receiver, each claimed for the first time, then again. */
const measureClaims: Part = async (chain, ours) => {
  const authorizer = createEoa()
  const steps: Step[] = []
  for (const size of claimSizes) {
    const payTo = await createReceiver(chain)
    const channels = await Promise.all(
      Array.from({ length: size }, () =>
        openChannelOnChain(chain, { payTo, authorizer, price: amount }, channelBalance),
      ),
    )
    const [first] = channels
    if (first === undefined) continue
    const claim = async (ceiling: bigint) =>
      await claimBody(first, await Promise.all(channels.map((channel) => rowOf(channel, ceiling))))
    for (const [nth, ceiling] of [['first', 100_000n] as const, ['next', 200_000n] as const]) {
      const request = `${nth} claim of ${size}`
      const named = { scheme: 'channel', request, when: 'now and then', rows: size } as const
      steps.push(await createStep(chain, ours, named, '/settle', [await claim(ceiling)]))
    }
    const sweep = { scheme: 'channel', request: 'sweep', when: 'now and then' } as const
    if (size === 1) steps.push(await createStep(chain, ours, sweep, '/settle', [sweepBody(first)]))
  }
  return steps
}

const kinds = z.object({
  kinds: z.array(z.looseObject({ scheme: z.string(), extra: z.looseObject({}).optional() })),
})

const measureHold: Part = async (chain, ours, count) => {
  const { chainId } = chain
  const { kinds: listed } = kinds.parse(await (await fetch(`${ours.url}/supported`)).json())
  const operator = String(listed.find(({ scheme }) => scheme === 'auth-capture')?.extra?.captureAuthorizer)
  const payTo = await createReceiver(chain)
  const authorizer: EoaWallet = createEoa()
  const holds = await Promise.all(
    Array.from({ length: count }, () =>
      planHold(chain, toAddress(operator), { amount: maximum, payTo, authorizer }),
    ),
  )
  const bodies = holds.map(({ body }) => body)
  const balances = { capturable: maximum, refundable: 0n }
  const captures = await Promise.all(
    holds.map((hold) => signCapture(hold, balances, { chainId, amount: amount * 5n })),
  )
  const voids = await Promise.all(holds.map((hold) => signVoid(hold, { chainId })))
  const scheme = 'auth-capture'
  const before = { scheme, when: 'before the first request' } as const
  const end = { scheme, when: 'at the end' } as const
  return [
    await createStep(chain, ours, { ...before, request: 'verify' }, '/verify', bodies),
    await createStep(chain, ours, { ...before, request: 'hold' }, '/settle', bodies),
    await createStep(chain, ours, { ...end, request: 'capture' }, '/settle', captures),
    await createStep(chain, ours, { ...end, request: 'void' }, '/settle', voids),
  ]
}

const toAddress = (text: string): Hex => getAddress(text)
