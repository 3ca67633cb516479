import { type Hex, numberToHex, zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { randomAddress, unixNow } from '../../../support/evm/authorization.js'
import {
  asHex,
  type CaptureBody,
  type Hold,
  published,
  signCapture,
  signCharge,
  signRefund,
  signVoid,
  withExtra,
  withPayload,
} from '../../../support/evm/holds.js'
import { toHighS } from '../../../support/evm/signatureForms.js'
import { createEoa, createSoladyWallet } from '../../../support/evm/wallets.js'
import { expectRefused as expectUnsent } from '../strangers.js'
import { prefixed, untouched, useSilentEscrows } from './scene.js'

const { scene, plan, chainOf } = useSilentEscrows()

const expectRefused = async (body: CaptureBody, reason: string) => {
  const { service } = scene.holds
  await expectUnsent(scene, service, body, reason)
  const explanation = await service.explain(body)
  expect(explanation.rules.find(({ state }) => state === 'failed')?.reason).toBe(reason)
}

const changeTransfer = ({ body }: Hold, changes: object): CaptureBody =>
  withPayload(body, { authorization: { ...Object(body.paymentPayload.payload.authorization), ...changes } })

const changePermit = ({ body }: Hold, changes: object): CaptureBody =>
  withPayload(body, {
    permit2Authorization: { ...Object(body.paymentPayload.payload.permit2Authorization), ...changes },
  })

type Case = readonly [what: string, reason: string, make: () => Promise<CaptureBody>]

const collectCases: readonly Case[] = [
  ['no authorization', 'payload_format', async () => withPayload((await plan()).body, { authorization: 1 })],
  ['a salt that is none', 'payload_format', async () => withPayload((await plan()).body, { salt: '0x1' })],
  ['an unknown type', 'payload_format', async () => withPayload((await plan()).body, { type: 'reclaim' })],
  [
    'no captureAuthorizer',
    'extra',
    async () => withExtra((await plan()).body, { captureAuthorizer: undefined }),
  ],
  ['no capture deadline', 'extra', async () => withExtra((await plan()).body, { captureDeadline: 'soon' })],
  [
    'an escrow of another',
    'extra',
    async () => withExtra((await plan()).body, { authCaptureEscrow: randomAddress() }),
  ],
  [
    'another payment flow',
    'unsupported_payment_flow',
    async () => withExtra((await plan()).body, { paymentFlow: 'later' }),
  ],
  [
    'a charge that is asked for by an earlier field',
    'unsupported_payment_flow',
    async () => withExtra((await plan()).body, { autoCapture: true }),
  ],
  [
    'no receiverAuthorizer',
    'missing_receiver_authorizer',
    async () => withExtra((await plan()).body, { receiverAuthorizer: zeroAddress }),
  ],
  [
    'another transfer method',
    'unsupported_asset_transfer_method',
    async () => withExtra((await plan()).body, { assetTransferMethod: 'eip2612' }),
  ],
  [
    'a contract as operator',
    'unsupported_operator_type',
    async () => (await plan({ extra: { operatorType: 'custom' } })).body,
  ],
  ['a policy', 'policy', async () => (await plan({ extra: { policy: randomAddress() } })).body],
  [
    'a rival operator',
    'operator_not_admitted',
    async () => (await plan({ extra: { captureAuthorizer: randomAddress() } })).body,
  ],
  [
    'a permit where ERC-3009 is required',
    'payload_method_mismatch',
    async () => withExtra((await plan({ method: 'permit2' })).body, { assetTransferMethod: 'eip3009' }),
  ],
  [
    'a capture deadline that is over',
    'capture_deadline_expired',
    async () => (await plan({ extra: { captureDeadline: unixNow() + 5 } })).body,
  ],
  [
    'a capture deadline before the authorization ends',
    'deadline_ordering',
    async () => (await plan({ extra: { captureDeadline: unixNow() + 200 } })).body,
  ],
  [
    'a refund deadline before the capture deadline',
    'deadline_ordering',
    async () => (await plan({ extra: { refundDeadline: unixNow() + 400 } })).body,
  ],
  [
    'an authorization that ends now',
    'authorization_expired',
    async () => changeTransfer(await plan(), { validBefore: String(unixNow() + 5) }),
  ],
  [
    'an authorization that begins later',
    'authorization_not_yet_valid',
    async () => changeTransfer(await plan(), { validAfter: String(unixNow() + 3_600) }),
  ],
  [
    'another collector',
    'token_collector_mismatch',
    async () => changeTransfer(await plan(), { to: published['1.0'].eip3009 }),
  ],
  [
    'another spender',
    'token_collector_mismatch',
    async () => changePermit(await plan({ method: 'permit2' }), { spender: published['1.1'].eip3009 }),
  ],
  [
    'a permit for another token',
    'token_mismatch',
    async () =>
      changePermit(await plan({ method: 'permit2' }), {
        permitted: { token: randomAddress(), amount: '10000' },
      }),
  ],
  [
    'the signature of another',
    'signature',
    async () =>
      withPayload((await plan()).body, { signature: (await plan()).body.paymentPayload.payload.signature }),
  ],
  [
    'a high s',
    'signature',
    async () => {
      const { body } = await plan()
      return withPayload(body, { signature: toHighS(asHex(body.paymentPayload.payload.signature)) })
    },
  ],
  [
    'a wallet of another factory, which is not deployed',
    'erc6492_factory_not_allowed',
    async () => (await plan({ wallet: await createSoladyWallet(scene.chain), isWrapped: true })).body,
  ],
  [
    'a lower amount than required',
    'amount_mismatch',
    async () => {
      const { body } = await plan()
      const requirements = { ...body.paymentRequirements, amount: '10001' }
      return {
        ...body,
        paymentPayload: { ...body.paymentPayload, accepted: requirements },
        paymentRequirements: requirements,
      }
    },
  ],
  [
    'fees above everything',
    'fee_bps_out_of_range',
    async () => (await plan({ extra: { maxFeeBps: 10_001 } })).body,
  ],
  [
    'a range of fees that is none',
    'fee_bps_out_of_range',
    async () => (await plan({ extra: { minFeeBps: 1 } })).body,
  ],
  [
    'a saltNonce of another payment',
    'salt_binding_mismatch',
    async () => withPayload((await plan()).body, { saltNonce: numberToHex(1, { size: 32 }) }),
  ],
  [
    'a receiverAuthorizer that was not signed for',
    'salt_binding_mismatch',
    async () => withExtra((await plan()).body, { receiverAuthorizer: randomAddress() }),
  ],
  [
    'terms that were not signed for',
    'nonce_mismatch',
    async () => withExtra((await plan()).body, { refundDeadline: unixNow() + 9_999 }),
  ],
]

describe('/verify and /settle of a collection', () => {
  it.each(collectCases)('refuses %s as %s', async (_what, reason, make) => {
    await expectRefused(await make(), prefixed(reason))
  })

  it('refuses a payment for another recipient: the hash names him', async () => {
    const { body } = await plan()
    const requirements = { ...body.paymentRequirements, payTo: randomAddress() }
    await expectRefused(
      {
        ...body,
        paymentPayload: { ...body.paymentPayload, accepted: requirements },
        paymentRequirements: requirements,
      },
      prefixed('nonce_mismatch'),
    )
  })
})

const chargeCases: readonly Case[] = [
  [
    'a charge above the maximum',
    'amount_mismatch',
    async () => signCharge(await plan({ flow: 'authorization' }), { ...chainOf(), amount: 10_001n }),
  ],
  [
    'a charge of nothing',
    'amount_mismatch',
    async () => signCharge(await plan({ flow: 'authorization' }), { ...chainOf(), amount: 0n }),
  ],
  [
    'a fee outside its range',
    'fee_bps_out_of_range',
    async () => signCharge(await plan({ flow: 'authorization' }), { ...chainOf(), fee: 1n }),
  ],
  [
    'a fee for nobody',
    'zero_fee_receiver',
    async () =>
      signCharge(await plan({ flow: 'authorization', extra: { maxFeeBps: 100 } }), { ...chainOf(), fee: 1n }),
  ],
  [
    'a fee for another',
    'fee_receiver',
    async () =>
      signCharge(
        await plan({ flow: 'authorization', extra: { maxFeeBps: 100, feeRecipient: scene.holds.operator } }),
        {
          ...chainOf(),
          fee: 1n,
          feeReceiver: randomAddress(),
        },
      ),
  ],
  [
    'a charge that another signed',
    'authorizer_signature',
    async () => signCharge(await plan({ flow: 'authorization' }), { ...chainOf(), signer: createEoa() }),
  ],
  [
    'a charge of another amount than was signed',
    'authorizer_signature',
    async () =>
      withPayload(await signCharge(await plan({ flow: 'authorization' }), { ...chainOf(), amount: 5n }), {
        amount: '6',
      }),
  ],
  ['a charge of a hold', 'payload_format', async () => signCharge(await plan(), chainOf())],
  [
    'a charge without its signature',
    'payload_format',
    async () =>
      withPayload(await signCharge(await plan({ flow: 'authorization' }), chainOf()), {
        authorizerSignature: undefined,
      }),
  ],
]

describe('/verify and /settle of a charge', () => {
  it.each(chargeCases)('refuses %s as %s', async (_what, reason, make) => {
    await expectRefused(await make(), prefixed(reason))
  })

  it('refuses at /settle a charge that nobody signed', async () => {
    const { body } = await plan({ flow: 'authorization' })
    const reason = prefixed('authorizer_signature')
    expect(await scene.holds.service.settle(body)).toMatchObject({
      success: false,
      errorReason: reason,
      transaction: '',
    })
  })
})

const lifecycleCases: readonly Case[] = [
  [
    'no balances',
    'payload_format',
    async () =>
      withPayload(await signCapture(await plan(), untouched, { ...chainOf(), amount: 1n }), {
        expectedCapturableAmount: undefined,
      }),
  ],
  [
    'no payment',
    'payload_format',
    async () =>
      withPayload(await signVoid(await plan(), chainOf()), {
        paymentInfo: { operator: scene.holds.operator },
      }),
  ],
  [
    'a rival operator',
    'operator_not_admitted',
    async () => signVoid(await plan({ extra: { captureAuthorizer: randomAddress() } }), chainOf()),
  ],
  [
    'no receiverAuthorizer',
    'lifecycle_not_relayed',
    async () => withExtra(await signVoid(await plan(), chainOf()), { receiverAuthorizer: undefined }),
  ],
  [
    'a payment of another operator',
    'operator_mismatch',
    async () => {
      const hold = await plan()
      return signVoid({ ...hold, info: { ...hold.info, operator: randomAddress() } }, chainOf())
    },
  ],
  [
    'a receiverAuthorizer that the payer did not sign for, although he signed the request',
    'salt_binding_mismatch',
    async () => {
      const thief = createEoa()
      const body = await signCapture(await plan(), untouched, { ...chainOf(), amount: 1n, signer: thief })
      return withExtra(body, { receiverAuthorizer: thief.address })
    },
  ],
  [
    'a saltNonce of another payment',
    'salt_binding_mismatch',
    async () =>
      withPayload(await signVoid(await plan(), chainOf()), { saltNonce: numberToHex(1, { size: 32 }) }),
  ],
  [
    'another recipient in the requirements',
    'extra',
    async () => {
      const body = await signVoid(await plan(), chainOf())
      const requirements = { ...body.paymentRequirements, payTo: randomAddress() }
      return {
        ...body,
        paymentPayload: { ...body.paymentPayload, accepted: requirements },
        paymentRequirements: requirements,
      }
    },
  ],
  [
    'no signature',
    'authorizer_signature',
    async () => withPayload(await signVoid(await plan(), chainOf()), { authorizerSignature: undefined }),
  ],
  [
    'the signature of another',
    'authorizer_signature',
    async () => signVoid(await plan(), { ...chainOf(), signer: createEoa() }),
  ],
  [
    'a high s',
    'authorizer_signature',
    async () => {
      const body = await signVoid(await plan(), chainOf())
      const signature: Hex = asHex(body.paymentPayload.payload.authorizerSignature)
      return withPayload(body, { authorizerSignature: toHighS(signature) })
    },
  ],
  [
    'a capture of more than was signed',
    'authorizer_signature',
    async () =>
      withPayload(await signCapture(await plan(), untouched, { ...chainOf(), amount: 1n }), { amount: '2' }),
  ],
  [
    'a signature of another chain',
    'authorizer_signature',
    async () => signCapture(await plan(), untouched, { chainId: 1, amount: 1n }),
  ],
  [
    'a void signature of another payment',
    'void_authorizer_signature',
    async () => {
      const body = await signCapture(await plan(), untouched, { ...chainOf(), amount: 1n })
      const other = await signVoid(await plan(), chainOf())
      return withPayload(body, { voidAuthorizerSignature: other.paymentPayload.payload.authorizerSignature })
    },
  ],
  [
    'a fee outside its range',
    'fee',
    async () => signCapture(await plan(), untouched, { ...chainOf(), amount: 100n, fee: 1n }),
  ],
  [
    'a capture after the deadline',
    'capture_deadline_expired',
    async () =>
      signCapture(await plan({ extra: { captureDeadline: unixNow() + 5 } }), untouched, {
        ...chainOf(),
        amount: 1n,
      }),
  ],
  [
    'a refund after the deadline',
    'refund_deadline_expired',
    async () =>
      signRefund(await plan({ extra: { refundDeadline: unixNow() + 5 } }), untouched, {
        ...chainOf(),
        amount: 1n,
      }),
  ],
  [
    'a capture of everything that voids the rest',
    'void_remainder_full_capture',
    async () => {
      const hold = await plan()
      const body = await signCapture(hold, untouched, { ...chainOf(), amount: 10_000n })
      const voided = await signVoid(hold, chainOf())
      return withPayload(body, { voidAuthorizerSignature: voided.paymentPayload.payload.authorizerSignature })
    },
  ],
  [
    'a capture that voids the rest',
    'void_remainder_not_offered',
    async () => {
      const hold = await plan()
      const body = await signCapture(hold, untouched, { ...chainOf(), amount: 1n })
      const voided = await signVoid(hold, chainOf())
      return withPayload(body, { voidAuthorizerSignature: voided.paymentPayload.payload.authorizerSignature })
    },
  ],
]

describe('/verify and /settle of a capture, a void or a refund', () => {
  it.each(lifecycleCases)('refuses %s as %s', async (_what, reason, make) => {
    await expectRefused(await make(), prefixed(reason))
  })
})
