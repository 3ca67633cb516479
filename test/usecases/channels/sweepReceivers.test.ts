import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/platform/logger.js'
import type { UnsweptReceiver } from '../../../src/ports/channelLedger.js'
import type { ChannelCare } from '../../../src/schemes/channelCare.js'
import { createSweepReceivers } from '../../../src/usecases/channels/sweepReceivers.js'
import type { SettleAuthorization } from '../../../src/usecases/core/settle/settleAuthorization.js'
import { createManualClock } from '../../support/manualClock.js'
import { plainPayment } from '../../support/plainPayment.js'
import { pollUntil } from '../../support/pollUntil.js'

const network = 'eip155:84532'

const owed = (index: number, accountId: string): UnsweptReceiver => ({
  network,
  receiver: `receiver ${String(index).padStart(6, '0')}`,
  token: 'token',
  accountId,
  unsweptSince: new Date(0),
  credits: 1n,
})

const care: ChannelCare = {
  rules: { claimWorth: 20n, claimAfterMs: 1, sweepAmount: 1n, sweepAfterMs: 1 },
  maxRows: 10,
  readChannels: async () => [],
  canSign: () => true,
  readHead: async () => null,
  listAnnounced: async () => null,
  readUnswept: async (receivers) => receivers.map(() => 1n),
  findRowCost: () => null,
  listRowCosts: () => [],
  isVoidable: () => false,
  isRowFault: () => false,
  writeClaim: () => {
    throw new Error('Nothing is claimed')
  },
  writeSweep: () => plainPayment(),
}

const open = (receivers: readonly UnsweptReceiver[], settleAuthorization: SettleAuthorization) => {
  const clock = createManualClock()
  const passedOver: string[] = []
  const sweep = createSweepReceivers({
    ledger: {
      listUnswept: async (_network, { after, limit }) =>
        receivers.filter(({ receiver }) => receiver > (after?.receiver ?? '')).slice(0, limit),
      passOver: async ({ receiver }) => void passedOver.push(receiver),
      endShares: async () => undefined,
      markSwept: async () => undefined,
    },
    settleAuthorization,
    clock,
    logger: silentLogger,
  })
  return {
    clock,
    passedOver,
    run: (stopped = new AbortController().signal) => sweep({ network, care }, stopped),
  }
}

const pending = { success: false, status: 'pending', transaction: '', network } as const

it('an account whose many payouts are slow keeps no other account from one', async () => {
  const begun: string[] = []
  const stop = new AbortController()
  const isStopped = new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }))
  const receivers = [...Array.from({ length: 100 }, (_, index) => owed(index, 'slow')), owed(999, 'other')]
  const { run } = open(receivers, async ({ caller }) => {
    begun.push(caller)
    if (caller === 'slow') await isStopped
    return pending
  })
  const round = run(stop.signal)
  await pollUntil(() => (begun.includes('other') ? true : null), 'the payout of the other account')
  stop.abort()
  await round
  expect(begun.filter((account) => account === 'other')).toHaveLength(1)
})

it('a round begins no payout after a minute, and none of those that wait is passed over', async () => {
  const begun: string[] = []
  const receivers = Array.from({ length: 30 }, (_, index) => owed(index, 'slow'))
  const { run, clock, passedOver } = open(receivers, async ({ caller }) => {
    begun.push(caller)
    clock.advance(10_000)
    return pending
  })
  await run()
  expect(begun.length).toBeLessThan(20)
  expect(passedOver).toEqual([])
})
