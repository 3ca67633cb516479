import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/platform/logger.js'
import type { HeldPayment } from '../../../src/ports/heldPayments.js'
import { specificationTiers } from '../../../src/protocol/tiers.js'
import { createActOnDeadlines, deadlineRoundEveryMs } from '../../../src/usecases/captures/actOnDeadlines.js'
import { keyOwner } from '../../http/support/app.js'

const network = 'eip155:1'
const waitMs = 25_000
const actsBeforeMs = 300_000

const holdOf = (
  id: string,
  { start, captureDeadline }: { readonly start: number; readonly captureDeadline: Date },
): HeldPayment => ({
  id,
  network,
  hash: id,
  accountId: keyOwner.id,
  authorizationId: id,
  payer: 'payer',
  payTo: 'payee',
  asset: 'gold',
  amount: 1n,
  captureDeadline,
  refundDeadline: captureDeadline,
  terms: {},
  status: 'held',
  capturable: 1n,
  refundable: 0n,
  captured: 0n,
  refunded: 0n,
  createdAt: new Date(start - 86_400_000),
  atDeadline: 'capture',
  isWarned: false,
})

const store = {
  listDeadlineNetworks: async () => [network],
  hasReverted: async () => false,
  hurryMove: async () => undefined,
  beginAction: async () => true,
  endAction: async () => undefined,
}

const dependencies = {
  accounts: { find: async () => keyOwner },
  tiers: specificationTiers,
  observe: async (held: HeldPayment) => ({ held, settlements: [], unfinished: null }),
  actsBeforeMs,
  waitMs,
  logger: silentLogger,
}

it('acts on many holds of one deadline in time, where each of them waits for its outcome as long as it may', async () => {
  const start = Date.parse('2030-01-01T00:00:00Z')
  const captureDeadline = new Date(start + 4_000_000)
  let now = start
  const waiting: { readonly endsAt: number; readonly end: () => void }[] = []
  const advance = async (ms: number): Promise<true> => {
    now += ms
    for (const { endsAt, end } of waiting) if (endsAt <= now) end()
    await new Promise((resolve) => setImmediate(resolve))
    return true
  }
  const unleased = Array.from({ length: 1_000 }, (_, n) => holdOf(`${n}`, { start, captureDeadline }))
  const actedAt: number[] = []
  const { run } = createActOnDeadlines({
    store: {
      ...store,
      // The last place is due first, as holds of one deadline have places in any order.
      leaseDeadlines: async ({ leadMs, queueMs, limit }) => {
        const isDue = ({ id }: HeldPayment) =>
          now >= captureDeadline.getTime() - leadMs - Number(id) * queueMs
        const leased = unleased.filter(isDue).slice(0, limit)
        for (const each of leased) unleased.splice(unleased.indexOf(each), 1)
        return leased
      },
    },
    ...dependencies,
    moveHold: async () => {
      actedAt.push(now)
      await new Promise<void>((end) => waiting.push({ endsAt: now + waitMs, end }))
      return { status: 'pending', transaction: '0x01' }
    },
    clock: { now: () => new Date(now), sleep: advance },
  })
  while (now < captureDeadline.getTime()) {
    await run(new AbortController().signal)
    await advance(deadlineRoundEveryMs)
  }
  expect(actedAt).toHaveLength(1_000)
  expect(Math.max(...actedAt)).toBeLessThan(captureDeadline.getTime())
})

it.each([
  ['is urgent when it is late', false, [false, true, true]],
  [
    'is urgent no more once it has failed on the chain, whichever instance tried',
    true,
    [false, false, false],
  ],
])('%s', async (_name, hasReverted, urgent) => {
  const start = Date.parse('2030-01-01T00:00:00Z')
  const captureDeadline = new Date(start + actsBeforeMs)
  let now = start
  const asked: unknown[] = []
  const { run } = createActOnDeadlines({
    store: {
      ...store,
      leaseDeadlines: async () => [holdOf('1', { start, captureDeadline })],
      hasReverted: async () => hasReverted,
    },
    ...dependencies,
    moveHold: async ({ isUrgent }) => {
      asked.push(isUrgent)
      // What is refused early is not sent.
      return { status: 'failed', transaction: '', errorReason: 'reverted' }
    },
    clock: { now: () => new Date(now), sleep: async () => true },
  })
  for (const msBefore of [actsBeforeMs, 100_000, 50_000]) {
    now = captureDeadline.getTime() - msBefore
    await run(new AbortController().signal)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(asked).toEqual(urgent)
})
