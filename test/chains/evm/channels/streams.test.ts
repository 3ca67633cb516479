import { describe, expect, it } from 'vitest'
import { noCustody } from '../../../../src/chains/evm/channels/custody.js'
import type { ChannelState } from '../../../../src/chains/evm/channels/states.js'
import { createChannelStreams } from '../../../../src/chains/evm/channels/streams.js'
import { systemClock } from '../../../../src/platform/clock.js'
import type { Payment } from '../../../../src/protocol/payment.js'
import type { Scheme } from '../../../../src/schemes/scheme.js'
import {
  createFindStreamed,
  nameChannelStream,
} from '../../../../src/usecases/core/verify/streamedChannels.js'
import { findMeans } from '../../../../src/usecases/streams/means.js'
import { channelConfig, channelIdOf } from '../../../support/evm/channels.js'
import { streamOf } from '../../../support/streamOf.js'
import { createToyScheme } from '../../../support/toyScheme.js'

const chainId = 84_532
const config = channelConfig()
const channelId = channelIdOf(chainId, config)
const signature = `0x${'1a'.repeat(64)}1b` as const
const asking = { isAwaited: () => true, caller: 'account' }

const openStreams = (totalClaimed: bigint) => {
  const verified: Payment[] = []
  const verify: Scheme['verify'] = async (payment) => {
    verified.push(payment)
    return {
      isValid: true,
      payer: config.payer,
      authorizationId: 'voucher',
      authorizedAmount: 0n,
      amount: 0n,
      expiresAt: null,
      details: {},
      settle: () => Promise.reject(new Error('Vouchers are not settled')),
    }
  }
  const state: ChannelState = {
    balance: 10_000n,
    totalClaimed,
    withdrawal: 0n,
    withdrawRequestedAt: 0,
    refundNonce: 0n,
  }
  const snapshots = { find: () => null, read: async () => state, forget: () => undefined }
  const network = { network: `eip155:${chainId}`, chainId, confirmations: 1, tokens: [] }
  const dependencies = { network, custody: noCustody, channelLedger: null, clock: systemClock }
  return { verified, streams: createChannelStreams(dependencies, snapshots, verify) }
}

/** A claim of this much can follow from a voucher that was verified, because it was charged before. */
const claimableOf = ({ requirements, proof }: Payment) =>
  BigInt(Object(proof.voucher).maxClaimableAmount) - requirements.amount

const voucher = { channelId, config: { ...config }, ceiling: 5_000n, signature }

describe('a voucher of a stream', () => {
  it.each([
    ['what the receiver states', 1_000n, 3_000n, 3_000n],
    ['what is claimed on chain', 4_000n, 3_000n, 4_000n],
  ] as const)(
    'that opens it is verified as charged by %s, whatever its ceiling',
    async (_name, claimed, stated, charged) => {
      const { verified, streams } = openStreams(claimed)
      const claim = streams.toClaim({ ...voucher, total: 1n, claimSignature: null })
      const proof = {
        type: 'voucher',
        channelConfig: { ...config },
        voucher: { channelId, maxClaimableAmount: '5000', signature },
      }
      const opened = await streams.open({ ...claim, proof }, { ...asking, statedCharge: stated })
      expect(opened).toMatchObject({
        isValid: true,
        charged,
        voucher: { channelId, ceiling: 5_000n, signature },
      })
      expect(verified.map(claimableOf)).toEqual([charged])
    },
  )

  it('that raises the ceiling is verified as charged by what was used', async () => {
    const { verified, streams } = openStreams(0n)
    expect(await streams.findProblem({ ...voucher, charged: 1_200n }, asking)).toBeNull()
    expect(await streams.findNewProblem({ ...voucher, charged: 1_300n }, asking)).toBeNull()
    expect(verified.map(claimableOf)).toEqual([1_200n, 1_300n])
  })
})

describe('a voucher beside streams of its account', () => {
  const wireOf = (type: string, ceiling: bigint, amount: bigint): Payment => {
    const claim = openStreams(0n).streams.toClaim({ ...voucher, total: 1n, claimSignature: null })
    const proof = {
      type,
      channelConfig: { ...config },
      voucher: { channelId, maxClaimableAmount: `${ceiling}`, signature },
    }
    return { ...claim, proof, requirements: { ...claim.requirements, amount } }
  }
  const find = async (
    payment: Payment,
    { owed = 0n, isOpen = false, caller = 'ada', addsToOpen = false } = {},
  ): Promise<string | null> => {
    const names: string[] = []
    const findStreamed = createFindStreamed({
      findOpen: async (name) => {
        names.push(name)
        return isOpen ? streamOf() : null
      },
      findOwed: async (name) => {
        names.push(name)
        return owed
      },
    })
    const kind = { scheme: 'batch-settlement', network: `eip155:${chainId}` }
    const scheme = createToyScheme({ channelStreams: openStreams(0n).streams, kind })
    const refusal = await findStreamed(scheme, payment, { caller, addsToOpen })
    const own = nameChannelStream({ network: kind.network, channelId, caller })
    expect(new Set(names)).toEqual(new Set(names.length === 0 ? [] : [own]))
    return refusal?.reason ?? null
  }
  const below = 'invalid_batch_settlement_evm_cumulative_below_claimed'

  it.each([
    ['covers neither', 2_000n, 1_000n, below],
    ['covers what they used alone', 3_000n, 1_000n, below],
    ['covers a part of the price', 3_999n, 1_000n, below],
    ['covers both', 4_000n, 1_000n, null],
    ['covers what they used, for a price of 0,', 3_000n, 0n, below],
    ['is above it, for a price of 0,', 3_001n, 0n, null],
  ] as const)('that %s of a failed one is judged so', async (_name, ceiling, price, reason) => {
    expect(await find(wireOf('voucher', ceiling, price), { owed: 3_000n })).toBe(reason)
  })

  it('pays where nothing is owed, and is not looked up for callers without an account', async () => {
    expect(await find(wireOf('voucher', 1n, 1_000n))).toBeNull()
    expect(await find(wireOf('voucher', 1n, 1_000n), { owed: 3_000n, caller: 'anonymous' })).toBeNull()
  })

  it('pays nothing beside an open one, which only a deposit can be added to', async () => {
    const payment = wireOf('voucher', 9_000n, 1_000n)
    expect(await find(payment, { isOpen: true })).toBe('duplicate_settlement')
    expect(await find(payment, { isOpen: true, addsToOpen: true, owed: 9_000n })).toBeNull()
  })

  it('asks for no service in a refund, whatever is owed', async () => {
    expect(await find(wireOf('refund', 1_000n, 0n), { owed: 3_000n })).toBeNull()
    expect(await find(wireOf('refund', 1_000n, 0n), { isOpen: true })).toBe('duplicate_settlement')
  })
})

describe('the claim of a stream', () => {
  const risk = 'invalid_batch_settlement_evm_cumulative_exceeds_balance'
  it.each([
    ['beyond the limits of the account where its payer withdraws', { risk }, true],
    ['within them where nothing is at risk', {}, false],
    ['within them once one failed on chain', { risk, reverts: 1 }, false],
  ] as const)('is sent %s', (_name, change, isUrgent) => {
    const { streams: channelStreams } = openStreams(0n)
    const { ceiling, config: wire } = voucher
    const channel = { id: channelId, config: wire, baseline: 0n }
    const used = { state: 'closing', voucher: signature, ceiling, amount: 9n, finalAmount: 9n } as const
    const means = findMeans(createToyScheme({ channelStreams, identify: () => 'claim' }))
    expect(means.toSettle(streamOf({ channel, ...used, ...change }), null)?.attempt).toMatchObject({
      isUrgent,
      requester: { name: 'channels of account', site: null },
    })
  })
})
