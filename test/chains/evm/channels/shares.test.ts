import { describe, expect, it } from 'vitest'
import { isRefused, readPayment } from '../../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import { deployBatchSettlement } from '../../../support/evm/channels.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { type ContractWallet, createMoodyWallet, deployWallet } from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openSchemeHarness } from '../schemeHarness.js'
import {
  type Channel,
  type ChannelBody,
  claimBody,
  planChannel,
  refundOrder,
  rowOf,
  voucherBody,
} from './channelScene.js'

/* Contracts of payers and receivers run at our nodes in the share of the caller that asks, whomever the request names. */

type Make = (channel: Channel) => Promise<ChannelBody>

const requests: readonly (readonly [what: string, reason: string, isOfPayer: boolean, make: Make])[] = [
  ['a voucher, that of the payer', 'voucher_signature', true, (channel) => voucherBody(channel, 1_000n)],
  [
    'a claim, that of the receiver',
    'claim_authorizer_signature',
    false,
    async (channel) => claimBody(channel, [await rowOf(channel, 1_000n)]),
  ],
  [
    'a refund, that of the receiver',
    'refund_authorizer_signature',
    false,
    (channel) => refundOrder(channel, { amount: 1n }),
  ],
]

let counted: string[] = []
let plan: ((chain: LocalChain, wallet: ContractWallet) => Promise<ChannelBody>) | null = null

const harness = useScene(() =>
  openSchemeHarness(
    async (chain) => {
      if (plan === null) throw new Error('Nothing is planned')
      const wallet = await createMoodyWallet(chain, 'refusesAll')
      await deployWallet(chain, wallet)
      const body = await plan(chain, wallet)
      return { body, respelled: body, countReceived: async () => 0n }
    },
    {
      scheme: 'batch-settlement',
      prepare: (chain) => deployBatchSettlement(chain.url),
      onCounted: (key) => counted.push(key),
    },
  ),
)

describe('a contract that decides', () => {
  it.each(requests)('on %s, uses the share of who asks', async (_what, reason, isOfPayer, make) => {
    plan = async (chain, wallet) =>
      make(
        isOfPayer
          ? planChannel(chain, { wallet, voucherKey: null })
          : planChannel(chain, { authorizer: { ...wallet.owner, address: wallet.address } }),
      )
    const { body } = await harness.plan()
    const payment = readPayment(wirePaymentRequest.parse(body))
    if (isRefused(payment)) throw new Error(payment.reason)
    // A pause of new payments keeps out what is one.
    expect(harness.scheme.continues?.(payment)).toBe(!isOfPayer)
    counted = []
    const options = { isAwaited: () => true, isForSettle: !isOfPayer, caller: 'customer 7' }
    expect(await harness.scheme.verify(payment, options)).toMatchObject({
      reason: `invalid_batch_settlement_evm_${reason}`,
    })
    const untrusted = counted.filter((key) => key.startsWith('untrusted gas'))
    expect(untrusted).toHaveLength(1)
    expect(untrusted[0]).toMatch(/ customer 7$/)
  })
})
