import { expect, it } from 'vitest'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { LedgerChannel, SeenChannel } from '../../../src/ports/channelLedger.js'
import { isFields } from '../../../src/protocol/fields.js'
import { createClaimChannels } from '../../../src/usecases/channels/claimChannels.js'
import type { SettleAuthorization } from '../../../src/usecases/core/settle/settleAuthorization.js'
import { createGate } from '../../support/gate.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { settlement } from '../../support/memoryJournal.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { channelCareStub as care } from './channelCareStub.js'

const network = 'eip155:84532'

/** Whose payer is about to withdraw. */
const withdrawn = (index: number, accountId: string): LedgerChannel => ({
  network,
  channelId: `0x${String(index).padStart(64, '0')}`,
  accountId,
  config: { withdrawDelay: 900 },
  receiver: `receiver ${index}`,
  token: 'token',
  ceiling: 5_000n,
  signature: '0x',
  price: 1_000n,
  boundAt: new Date(0),
  verifiedAt: new Date(0),
  charged: 4_000n,
  claimed: 0n,
  balance: 10_000n,
  withdrawal: 6_000n,
  withdrawRequestedAt: 1,
  seenAt: new Date(0),
  unclaimedSince: new Date(0),
  settlementId: null,
  unclaimable: null,
})

const pending = { success: false, errorReason: 'settlement_pending', transaction: '', network } as const

interface DuePage {
  readonly after: string
  readonly limit: number
  readonly onlyWithdrawn?: boolean
}

const ledgerOf = (channels: readonly LedgerChannel[]) => ({
  listDue: async (_: string, { after, limit, onlyWithdrawn }: DuePage) =>
    onlyWithdrawn === true ? [] : channels.filter(({ channelId }) => channelId > after).slice(0, limit),
  findWatch: async () => ({ nextBlock: null }),
  moveWatch: async () => undefined,
  listUnnoticed: async () => [],
  observe: async (_: string, seen: readonly SeenChannel[]) =>
    channels.filter(({ channelId }) => seen.some((each) => each.channelId === channelId)),
  bindClaim: async () => true,
  hurryClaim: async () => undefined,
  countRefusal: async () => undefined,
})

const openRounds = (channels: readonly LedgerChannel[], settleAuthorization: SettleAuthorization) =>
  createClaimChannels({
    ledger: ledgerOf(channels),
    journal: { find: async () => null },
    settleAuthorization,
    clock: systemClock,
    logger: silentLogger,
    gatherMs: waitLimitMs,
  })

it('an account whose claims are slow keeps no other account from a claim against a withdrawal', async () => {
  const channels = [
    ...Array.from({ length: 100 }, (_, index) => withdrawn(index, 'slow')),
    withdrawn(999, 'other'),
  ]
  const begun: string[] = []
  const stop = new AbortController()
  const isStopped = new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }))
  const settleAuthorization: SettleAuthorization = async ({ caller }) => {
    begun.push(caller)
    if (caller === 'slow') await isStopped
    return pending
  }
  const round = openRounds(channels, settleAuthorization)({ network, care }, stop.signal)
  await pollUntil(() => (begun.includes('other') ? true : null), 'the claim of the other account')
  stop.abort()
  await round
  expect(begun.filter((account) => account === 'other')).toHaveLength(1)
})

/** Claims become ready one by one, as the test says; `sent` lists those that went on. */
const settleByHand = (accounts: readonly string[]) => {
  const ready = new Map(accounts.map((account) => [account, createGate()]))
  const sent: string[] = []
  const settleAuthorization: SettleAuthorization = async ({ caller, onClaimed }) => {
    await ready.get(caller)?.opened
    if (caller === 'failed') throw new Error('No place is free')
    await onClaimed?.(settlement({ caller }))
    sent.push(caller)
    return pending
  }
  return { settleAuthorization, sent, makeReady: (account: string) => ready.get(account)?.open() }
}

it('claims of a round are sent when the last one of them is ready, or has failed', async () => {
  const accounts = ['first', 'failed', 'last']
  const channels = accounts.map((account, index) => withdrawn(index, account))
  const { settleAuthorization, sent, makeReady } = settleByHand(accounts)
  const round = openRounds(channels, settleAuthorization)({ network, care }, new AbortController().signal)
  for (const account of accounts) {
    await drainEventLoop()
    expect(sent).toEqual([])
    makeReady(account)
  }
  await round
  expect(sent.toSorted()).toEqual(['first', 'last'])
})

it('a claim that its payer can void waits for no other, and no other for it', async () => {
  const accounts = ['shared', 'voidable', 'last voidable']
  const channels = accounts.map((account, index) => ({
    ...withdrawn(index, account),
    config: { withdrawDelay: 900, isVoidable: account !== 'shared' },
  }))
  const { settleAuthorization, sent, makeReady } = settleByHand(accounts)
  const voidableCare = {
    ...care,
    isVoidable: (config: unknown) => isFields(config) && config.isVoidable === true,
  }
  const round = openRounds(channels, settleAuthorization)(
    { network, care: voidableCare },
    new AbortController().signal,
  )
  for (const [index, account] of accounts.entries()) {
    makeReady(account)
    await drainEventLoop()
    expect(sent).toEqual(accounts.slice(0, index + 1))
  }
  await round
})

it('an account with very many channels, none worth a claim, keeps no other account from one against a withdrawal', async () => {
  const dust = { charged: 1n, withdrawRequestedAt: 0, withdrawal: 0n }
  const channels = [
    ...Array.from({ length: 20_000 }, (_, index) => ({ ...withdrawn(index, 'many'), ...dust })),
    withdrawn(99_999, 'other'),
  ]
  const byId = new Map(channels.map((channel) => [channel.channelId, channel]))
  const positions = new Map(channels.map(({ channelId }, index) => [channelId, index]))
  const begun: string[] = []
  await createClaimChannels({
    ledger: {
      ...ledgerOf(channels),
      listDue: async (_, { after, limit, onlyWithdrawn }) => {
        if (onlyWithdrawn === true) return []
        const start = (positions.get(after) ?? -1) + 1
        return channels.slice(start, start + limit)
      },
      observe: async (_, seen) =>
        seen.flatMap(({ channelId }) => {
          const channel = byId.get(channelId)
          return channel === undefined ? [] : [channel]
        }),
    },
    journal: { find: async () => null },
    settleAuthorization: async ({ caller }) => {
      begun.push(caller)
      return pending
    },
    clock: systemClock,
    logger: silentLogger,
  })({ network, care: { ...care, maxRows: 100, findRowCost: () => 100n } }, new AbortController().signal)
  expect(begun).toEqual(['other'])
})

it('an account with very many withdrawals, each claimed before, keeps no other account from a claim against one', async () => {
  const clock = createManualClock()
  const channels = [
    ...Array.from({ length: 2_000 }, (_, index) => ({
      ...withdrawn(index, 'many'),
      settlementId: `claim ${index}`,
    })),
    { ...withdrawn(99_999, 'other'), settlementId: 'claim of other' },
  ]
  const begun: string[] = []
  await createClaimChannels({
    ledger: ledgerOf(channels),
    journal: {
      find: async (id) => {
        await clock.advance(100)
        return settlement({ id, state: 'confirmed' })
      },
    },
    settleAuthorization: async ({ caller }) => {
      begun.push(caller)
      return pending
    },
    clock,
    logger: silentLogger,
  })({ network, care: { ...care, maxRows: 3_000, isVoidable: () => true } }, new AbortController().signal)
  expect(begun.slice(0, 2).sort()).toEqual(['many', 'other'])
})

it('a round that looks at channels for too long claims what it has seen, and the next one goes on behind them', async () => {
  const channels = Array.from({ length: 40 }, (_, index) => withdrawn(index, 'account'))
  const clock = createManualClock()
  const listed: string[] = []
  let claims = 0
  const round = createClaimChannels({
    ledger: {
      ...ledgerOf(channels),
      listDue: async (name, page) => {
        if (page.onlyWithdrawn === true) return []
        listed.push(page.after)
        await clock.advance(40_000)
        return await ledgerOf(channels).listDue(name, page)
      },
    },
    journal: { find: async () => null },
    settleAuthorization: async () => {
      claims += 1
      return pending
    },
    clock,
    logger: silentLogger,
  })
  for (const expected of [2, 4]) {
    await round({ network, care: { ...care, maxRows: 10 } }, new AbortController().signal)
    expect(claims).toBe(expected * 10)
  }
  expect(listed).toEqual(['', ...[9, 19, 29].map((index) => withdrawn(index, '').channelId)])
})

it.each([
  { name: 'was refused before it was sent is', transaction: null, claims: 1 },
  { name: 'reverted on chain is not', transaction: '0x12', claims: 0 },
])('a payer that can void its vouchers, and whose last claim $name claimed again', async (last) => {
  const reason = 'invalid_batch_settlement_evm_claim_simulation_failed'
  const failed = settlement({ state: 'failed', reason, transaction: last.transaction })
  let claims = 0
  const settleAuthorization: SettleAuthorization = async () => {
    claims += 1
    return pending
  }
  await createClaimChannels({
    ledger: ledgerOf([{ ...withdrawn(0, 'account'), settlementId: failed.id }]),
    journal: { find: async () => failed },
    settleAuthorization,
    clock: systemClock,
    logger: silentLogger,
  })(
    { network, care: { ...care, isVoidable: () => true, isRowFault: (each) => each === reason } },
    new AbortController().signal,
  )
  expect(claims).toBe(last.claims)
})

it.each([
  { name: 'of the same rows is waited for', changes: { amount: 4_000n, createdAt: new Date(0) }, claims: 0 },
  { name: 'of other rows is not', changes: { amount: 9_000n, createdAt: new Date(0) }, claims: 1 },
  { name: 'of other rows is, just begun', changes: { amount: 9_000n, createdAt: new Date() }, claims: 0 },
])('against a withdrawal, an open claim $name', async ({ changes, claims }) => {
  const open = settlement({ state: 'pending', transaction: '0x12', ...changes })
  let made = 0
  const settleAuthorization: SettleAuthorization = async () => {
    made += 1
    return pending
  }
  await createClaimChannels({
    ledger: ledgerOf([{ ...withdrawn(0, 'account'), settlementId: open.id }]),
    journal: { find: async () => open },
    settleAuthorization,
    clock: systemClock,
    logger: silentLogger,
  })({ network, care }, new AbortController().signal)
  expect(made).toBe(claims)
})
