import { type Hex, maxUint256, zeroAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { randomAddress, randomHex, unixNow } from '../../../support/evm/authorization.js'
import {
  type ChannelConfig,
  encodeErc3009Deposit,
  erc3009DepositCollectorAddress,
  signVoucher,
  voucherTypedData,
} from '../../../support/evm/channels.js'
import { toCompact, toHighS, toParityV } from '../../../support/evm/signatureForms.js'
import {
  createDelegatedEoa,
  createEoa,
  createSoladyWallet,
  deployWallet,
} from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Service } from '../scene.js'
import { countSent } from '../strangers.js'
import {
  type Channel,
  type ChannelBody,
  type ChannelPlan,
  callSettlement,
  claimBody,
  type DepositPlan,
  depositBody,
  openChannelOnChain,
  planChannel,
  refundBody,
  refundOrder,
  rowOf,
  sweepBody,
  voucherBody,
  withExtra,
  withPayload,
  withRequirements,
} from './channelScene.js'

/* Every reason for which a channel's payload is refused, in the order in which they are checked. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }), { isResetAfterEach: false })
let service: Service

beforeAll(async () => {
  service = await scene.open()
})

const plan = (changes: ChannelPlan = {}): Channel => planChannel(scene.chain, changes)
const prefixed = (reason: string) =>
  reason.startsWith('unsupported_') ? reason : `invalid_batch_settlement_evm_${reason}`

const openChannel = (changes: ChannelPlan = {}, amount?: bigint): Promise<Channel> =>
  openChannelOnChain(scene.chain, changes, amount)

type Case = readonly [what: string, reason: string, make: () => Promise<ChannelBody>]

const deposit = (changes: DepositPlan = {}, channel: Channel = plan()) => depositBody(channel, changes)

/** Changes a payload after it was signed. */
const change = async (made: Promise<ChannelBody>, path: string, value: unknown): Promise<ChannelBody> => {
  const body = structuredClone(await made)
  const names = path.split('.')
  const last = names.pop() ?? ''
  const parent = names.reduce(
    (fields: object, name) => Object(Reflect.get(fields, name)),
    body.paymentPayload.payload,
  )
  Reflect.set(parent, last, value)
  return body
}

const withConfig = (changes: Partial<ChannelConfig>) => plan({ config: changes })

const channelCases: readonly Case[] = [
  ['no type', 'payload_type', () => change(deposit(), 'type', undefined)],
  ['a type that is none', 'payload_type', () => change(deposit(), 'type', 'withdraw')],
  ['a type that objects inherit', 'payload_type', () => change(deposit(), 'type', 'constructor')],
  [
    'an id of another channel',
    'channel_id_mismatch',
    () => change(deposit(), 'voucher.channelId', randomHex(32)),
  ],
  [
    'a channel that was changed after its id',
    'channel_id_mismatch',
    () => change(deposit(), 'channelConfig.salt', randomHex(32)),
  ],
  [
    'a channel to another receiver',
    'receiver_mismatch',
    async () => withRequirements(await deposit(), { payTo: randomAddress() }),
  ],
  [
    'a channel with another receiverAuthorizer',
    'receiver_authorizer_mismatch',
    async () => withExtra(await deposit(), { receiverAuthorizer: randomAddress() }),
  ],
  [
    'no receiverAuthorizer in the requirements',
    'receiver_authorizer_mismatch',
    async () => withExtra(await deposit(), { receiverAuthorizer: undefined }),
  ],
  [
    'a receiverAuthorizer of zero',
    'receiver_authorizer_mismatch',
    async () =>
      withExtra(await deposit({}, withConfig({ receiverAuthorizer: zeroAddress })), {
        receiverAuthorizer: zeroAddress,
      }),
  ],
  [
    'a channel in another token',
    'token_mismatch',
    async () => deposit({}, withConfig({ token: randomAddress() })),
  ],
  [
    'a shorter delay than the requirements',
    'withdraw_delay_mismatch',
    async () => withExtra(await deposit(), { withdrawDelay: 1_800 }),
  ],
  [
    'a delay below the least',
    'withdraw_delay_out_of_range',
    () => deposit({}, withConfig({ withdrawDelay: 899 })),
  ],
  [
    'a delay above the most',
    'withdraw_delay_out_of_range',
    () => deposit({}, withConfig({ withdrawDelay: 2_592_001 })),
  ],
]

const depositCases: readonly Case[] = [
  ['an amount that is a number', 'deposit_payload', () => change(deposit(), 'deposit.amount', 10_000)],
  [
    'an amount above uint128',
    'deposit_payload',
    () => change(deposit(), 'deposit.amount', String(2n ** 128n)),
  ],
  ['no authorization', 'deposit_payload', () => change(deposit(), 'deposit.authorization', undefined)],
  ['a salt that is none', 'deposit_payload', () => change(deposit(), 'channelConfig.salt', '0x1')],
  ['a delay as text', 'deposit_payload', () => change(deposit(), 'channelConfig.withdrawDelay', '900')],
  ['a payer that is none', 'deposit_payload', () => change(deposit(), 'channelConfig.payer', '0x12')],
  ['a voucher without signature', 'deposit_payload', () => change(deposit(), 'voucher.signature', undefined)],
  [
    'a ceiling above uint128',
    'deposit_payload',
    () => change(deposit(), 'voucher.maxClaimableAmount', String(maxUint256)),
  ],
  [
    'a method that does not exist',
    'unsupported_asset_transfer_method',
    async () => withExtra(await deposit(), { assetTransferMethod: 'eip2612' }),
  ],
  [
    'a permit where ERC-3009 is required',
    'erc3009_authorization_required',
    async () => withExtra(await deposit({ method: 'permit2' }), { assetTransferMethod: 'eip3009' }),
  ],
  [
    'ERC-3009 where a permit is required',
    'permit2_authorization_required',
    async () => withExtra(await deposit(), { assetTransferMethod: 'permit2' }),
  ],
  ['no domain', 'missing_eip712_domain', async () => withExtra(await deposit(), { name: undefined })],
  [
    'an authorization that ends now',
    'payload_authorization_valid_before',
    () => deposit({ authorization: { validBefore: String(unixNow() + 4) } }),
  ],
  [
    'an authorization that begins later',
    'payload_authorization_valid_after',
    () => deposit({ authorization: { validAfter: String(unixNow() + 3_600) } }),
  ],
  [
    'a signature of another wallet',
    'receive_authorization_signature',
    () => deposit({}, plan({ wallet: { ...createEoa(), address: randomAddress() } })),
  ],
  [
    'a signature of another amount',
    'receive_authorization_signature',
    () => change(deposit(), 'deposit.amount', '10001'),
  ],
  [
    'a signature with a high s',
    'receive_authorization_signature',
    async () => {
      const body = await deposit()
      const path = 'deposit.authorization.erc3009Authorization.signature'
      return await change(Promise.resolve(body), path, toHighS(readText(body, path)))
    },
  ],
  [
    'a wallet of a factory that is not listed',
    'eip6492_factory_not_allowed',
    async () => deposit({ isWrapped: true }, plan({ wallet: await createSoladyWallet(scene.chain) })),
  ],
  [
    'a permit of another owner',
    'permit2_invalid_signature',
    () => deposit({ method: 'permit2', authorization: { from: randomAddress() } }),
  ],
  [
    'a permit for another spender',
    'permit2_invalid_spender',
    () => deposit({ method: 'permit2', authorization: { spender: randomAddress() } }),
  ],
  [
    'a permit of another token',
    'token_mismatch',
    () =>
      deposit({
        method: 'permit2',
        authorization: { permitted: { token: randomAddress(), amount: '10000' } },
      }),
  ],
  [
    'a permit of another amount',
    'permit2_amount_mismatch',
    () => change(deposit({ method: 'permit2' }), 'deposit.amount', '9999'),
  ],
  [
    'a permit for another channel',
    'channel_id_mismatch',
    () => deposit({ method: 'permit2', authorization: { witness: { channelId: randomHex(32) } } }),
  ],
  [
    'a permit that ends now',
    'permit2_deadline_expired',
    () => deposit({ method: 'permit2', authorization: { deadline: String(unixNow() + 4) } }),
  ],
  [
    'a permit that was changed after signing',
    'permit2_invalid_signature',
    () => change(deposit({ method: 'permit2' }), 'deposit.authorization.permit2Authorization.nonce', '7'),
  ],
  [
    'no allowance for Permit2',
    'permit2_allowance_required',
    () => deposit({ method: 'permit2', isApproved: false }),
  ],
  [
    'a voucher of another key',
    'voucher_signature',
    async () => change(deposit(), 'voucher.signature', await signByStranger()),
  ],
  ['a balance below the deposit', 'insufficient_balance', () => deposit({ balance: 9_999n })],
  ['a ceiling above the deposit', 'cumulative_exceeds_balance', () => deposit({ ceiling: 10_001n })],
  ['a ceiling below the price', 'cumulative_below_claimed', () => deposit({ ceiling: 999n })],
  [
    'an authorization that was used',
    'deposit_already_used',
    async () => {
      const channel = plan()
      const body = await deposit({ balance: 20_000n }, channel)
      await submit(channel, body)
      return body
    },
  ],
]

const readText = (body: ChannelBody, path: string): Hex => {
  const value = path
    .split('.')
    .reduce((fields: unknown, name) => Reflect.get(Object(fields), name), body.paymentPayload.payload)
  return `0x${String(value).slice(2)}`
}

const signByStranger = async (): Promise<Hex> => {
  const channel = plan()
  return await signVoucher(scene.chain, createEoa(), channel.config, 1_000n)
}

/** Submits the deposit of a body as a stranger. */
const submit = async (channel: Channel, { paymentPayload }: ChannelBody): Promise<void> => {
  const { authorization } = Object(paymentPayload.payload.deposit)
  const data = encodeErc3009Deposit(authorization.erc3009Authorization)
  const args = [channel.config, 10_000n, erc3009DepositCollectorAddress, data]
  await callSettlement(channel, randomAddress(), 'deposit', args)
}

const voucherCases: readonly Case[] = [
  ['no voucher', 'voucher_payload', async () => change(voucherBody(plan(), 1_000n), 'voucher', null)],
  [
    'a ceiling with a sign',
    'voucher_payload',
    async () => change(voucherBody(plan(), 1_000n), 'voucher.maxClaimableAmount', '-1'),
  ],
  ['a channel without a deposit', 'channel_not_found', () => voucherBody(plan(), 1_000n)],
  [
    'a voucher of another channel',
    'voucher_signature',
    async () => {
      const voucherKey = createEoa()
      const [one, other] = [await openChannel({ voucherKey }), plan({ voucherKey })]
      return await voucherBody(one, 1_000n, await signVoucher(scene.chain, voucherKey, other.config, 1_000n))
    },
  ],
  [
    'a voucher for another chain',
    'voucher_signature',
    async () => {
      const channel = await openChannel()
      const typed = voucherTypedData(scene.chain.chainId + 1, channel.id, 1_000n)
      return await voucherBody(channel, 1_000n, await channel.voucherSigner.signTypedData(typed))
    },
  ],
  [
    'a voucher of the payer where a key of its own signs',
    'voucher_signature',
    async () => {
      const channel = await openChannel()
      return await voucherBody({ ...channel, voucherSigner: channel.wallet }, 1_000n)
    },
  ],
  ...(
    [
      ['a high s', toHighS],
      ['v as a parity', toParityV],
      ['64 bytes', toCompact],
    ] as const
  ).map(
    ([what, form]): Case => [
      `a voucher with ${what}`,
      'voucher_signature',
      async () => {
        const channel = await openChannel()
        const signature = await signVoucher(scene.chain, channel.voucherSigner, channel.config, 1_000n)
        return await voucherBody(channel, 1_000n, form(signature))
      },
    ],
  ),
  [
    'a wallet contract that did not sign',
    'voucher_signature',
    async () => {
      const wallet = await createSoladyWallet(scene.chain)
      await deployWallet(scene.chain, wallet)
      const channel = await openChannel({ wallet, voucherKey: null })
      return await voucherBody({ ...channel, voucherSigner: createEoa() }, 1_000n)
    },
  ],
  [
    'a delegated key (EIP-7702) whose code checks no signatures',
    'voucher_signature',
    async () => {
      const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: false })
      return await voucherBody(plan({ wallet, voucherKey: null }), 1_000n)
    },
  ],
  [
    'a ceiling above the balance',
    'cumulative_exceeds_balance',
    async () => voucherBody(await openChannel(), 10_001n),
  ],
  [
    'a ceiling that a pending withdrawal could take',
    'cumulative_exceeds_balance',
    async () => {
      const channel = await openChannel()
      await callSettlement(channel, channel.config.payer, 'initiateWithdraw', [channel.config, 9_001n])
      return await voucherBody(channel, 1_000n)
    },
  ],
  [
    'a ceiling that is claimed already',
    'cumulative_below_claimed',
    async () => {
      const channel = await openChannel()
      await claimOnChain(channel, 2_000n)
      return await voucherBody(channel, 2_000n)
    },
  ],
  [
    'a ceiling that covers less than the price beside what is claimed',
    'cumulative_below_claimed',
    async () => {
      const channel = await openChannel()
      await claimOnChain(channel, 2_000n)
      return await voucherBody(channel, 2_999n)
    },
  ],
]

const claimOnChain = async (channel: Channel, total: bigint): Promise<void> => {
  await callSettlement(channel, channel.config.receiver, 'claim', [[await rowOf(channel, total)]])
}

const refundCases: readonly Case[] = [
  ['an amount that is a number', 'refund_payload', () => change(refundBody(plan(), 1_000n), 'amount', 1)],
  [
    'a ceiling above the balance',
    'cumulative_exceeds_balance',
    async () => refundBody(await openChannel(), 10_001n),
  ],
  [
    'a ceiling below what is claimed',
    'cumulative_below_claimed',
    async () => {
      const channel = await openChannel()
      await claimOnChain(channel, 2_000n)
      return await refundBody(channel, 1_999n)
    },
  ],
]

const claimed = async (channel: Channel, ceiling: bigint, total: bigint = ceiling) =>
  claimBody(channel, [await rowOf(channel, ceiling, total)])

const requestCases: readonly Case[] = [
  ['a voucher', 'payload_type', async () => voucherBody(await openChannel(), 1_000n)],
  ['a claim without rows', 'claim_payload', () => change(claimed(plan(), 1_000n), 'claims', [])],
  [
    'a claim of 101 rows',
    'claim_payload',
    async () => {
      const body = await claimed(plan(), 1_000n)
      const [row] = Object(body.paymentPayload.payload.claims)
      return withPayload(body, { claims: Array.from({ length: 101 }, () => row) })
    },
  ],
  [
    'a row without signature',
    'claim_payload',
    () => change(claimed(plan(), 1_000n), 'claims.0.signature', undefined),
  ],
  [
    'a row of another receiver',
    'receiver_mismatch',
    async () => withRequirements(await claimed(plan(), 1_000n), { payTo: randomAddress() }),
  ],
  [
    'a row in a token that is not settled here',
    'unsupported_asset',
    async () => {
      const channel = plan()
      const other = plan({
        token: randomAddress(),
        authorizer: channel.authorizer,
        payTo: channel.config.receiver,
      })
      return claimBody(channel, [await rowOf(other, 1_000n)])
    },
  ],
  [
    'rows of several authorizers',
    'authorizer_address_mismatch',
    async () => {
      const one = await openChannel()
      const other = await openChannel({ payTo: one.config.receiver })
      return claimBody(one, [await rowOf(one, 1_000n), await rowOf(other, 1_000n)])
    },
  ],
  [
    'no signature of the authorizer',
    'authorizer_not_configured',
    () => change(claimed(plan(), 1_000n), 'claimAuthorizerSignature', undefined),
  ],
  [
    'a signature of another authorizer',
    'claim_authorizer_signature',
    async () => {
      const channel = await openChannel()
      return claimBody({ ...channel, authorizer: createEoa() }, [await rowOf(channel, 1_000n)])
    },
  ],
  [
    'a total above the ceiling',
    'claim_simulation_failed',
    async () => claimed(await openChannel(), 1_000n, 1_001n),
  ],
  ['a total above the balance', 'claim_simulation_failed', async () => claimed(await openChannel(), 10_001n)],
  [
    'a voucher of a stranger',
    'claim_simulation_failed',
    async () => {
      const channel = await openChannel()
      const row = await rowOf({ ...channel, voucherSigner: createEoa() }, 1_000n)
      return claimBody(channel, [row])
    },
  ],
  [
    'a sweep to no address',
    'settle_payload',
    () => change(Promise.resolve(sweepBody(plan())), 'receiver', '0x1'),
  ],
  [
    'a sweep to another receiver',
    'receiver_mismatch',
    async () => sweepBody(plan(), { receiver: randomAddress() }),
  ],
  ['a sweep of another token', 'token_mismatch', async () => sweepBody(plan(), { token: randomAddress() })],
  ['a sweep of nothing', 'nothing_to_settle', async () => sweepBody(await openChannel())],
  ['a refund as the client sends it', 'refund_payload', async () => refundBody(await openChannel(), 0n)],
  [
    'a refund of another receiver',
    'receiver_mismatch',
    async () => withRequirements(await refundOrder(plan(), { amount: 1n }), { payTo: randomAddress() }),
  ],
  [
    'a refund of another channel',
    'channel_id_mismatch',
    () => change(refundOrder(plan(), { amount: 1n }), 'channelConfig.salt', randomHex(32)),
  ],
  [
    'a refund that claims another channel',
    'channel_id_mismatch',
    async () => {
      const channel = await openChannel()
      const other = await openChannel({ payTo: channel.config.receiver, authorizer: channel.authorizer })
      const { claims, claimAuthorizerSignature } = (await claimed(other, 1_000n)).paymentPayload.payload
      return withPayload(await refundOrder(channel, { amount: 1n }), { claims, claimAuthorizerSignature })
    },
  ],
  [
    'an unsigned refund',
    'authorizer_not_configured',
    () => change(refundOrder(plan(), { amount: 1n }), 'refundAuthorizerSignature', undefined),
  ],
  [
    'a refund with an unsigned claim',
    'authorizer_not_configured',
    () => change(refundOrder(plan(), { charged: 1_000n, amount: 1n }), 'claimAuthorizerSignature', undefined),
  ],
  [
    'a refund that the payer signed',
    'refund_authorizer_signature',
    async () => {
      const wallet = createEoa()
      const channel = await openChannel({ wallet })
      return refundOrder({ ...channel, authorizer: wallet }, { amount: 1n })
    },
  ],
  [
    'a refund of another amount than was signed',
    'refund_authorizer_signature',
    async () => change(refundOrder(await openChannel(), { amount: 1n }), 'amount', '2'),
  ],
  ['a refund of an empty channel', 'channel_not_found', () => refundOrder(plan(), { amount: 1n })],
  ['a refund of 0', 'refund_no_balance', async () => refundOrder(await openChannel(), { amount: 0n })],
  [
    'a refund of what is claimed',
    'refund_no_balance',
    async () => refundOrder(await openChannel(), { charged: 10_000n, amount: 1n }),
  ],
  [
    'a refund with a nonce that is not the next',
    'refund_nonce_mismatch',
    async () => refundOrder(await openChannel(), { amount: 1n, nonce: 1n }),
  ],
]

const expectUnverified = async (body: ChannelBody, reason: string) => {
  expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
  const explanation = await service.explain(body)
  expect(explanation.rules.find(({ state }) => state === 'failed')?.reason).toBe(reason)
}

const expectUnsettled = async (body: ChannelBody, reason: string) => {
  const before = await countSent(scene, service)
  expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason, transaction: '' })
  expect(await countSent(scene, service)).toBe(before)
}

describe('a deposit is refused with', () => {
  it.each([...channelCases, ...depositCases])('%s: %s', async (_what, reason, make) => {
    const body = await make()
    await expectUnverified(body, prefixed(reason))
    await expectUnsettled(body, prefixed(reason))
  })
})

describe('at /verify, a voucher or refund is refused with', () => {
  it.each([...voucherCases, ...refundCases])('%s: %s', async (_what, reason, make) => {
    await expectUnverified(await make(), prefixed(reason))
  })

  it.each([
    ['a claim', () => claimed(plan(), 1_000n)],
    ['a sweep', async () => sweepBody(plan())],
  ])('%s, which only /settle takes', async (_what, make) => {
    await expectUnverified(await make(), prefixed('payload_type'))
  })
})

describe('at /settle, a request is refused with', () => {
  it.each(requestCases)('%s: %s', async (_what, reason, make) => {
    await expectUnsettled(await make(), prefixed(reason))
  })

  it('a sentence that names the bad row, and leaves the others alone', async () => {
    const [good, bad] = [await openChannel(), plan()]
    const mine = { ...bad, authorizer: good.authorizer }
    const config = {
      ...bad.config,
      receiver: good.config.receiver,
      receiverAuthorizer: good.authorizer.address,
    }
    const rows = [await rowOf(good, 1_000n), await rowOf({ ...mine, config }, 1_000n)]
    const answer = await service.settle(await claimBody(good, rows))
    expect(answer.errorReason).toBe(prefixed('claim_simulation_failed'))
    expect(answer.errorMessage).toMatch(
      /payload\.claims\.1 \(channel 0x[0-9a-f]{64}\): claims 1000 of a balance of 0/,
    )
  })
})
