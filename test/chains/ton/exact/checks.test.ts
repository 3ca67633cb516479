import { beginCell, comment, internal, type MessageRelaxed } from '@ton/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CoreClient } from '../../../support/coreClient.js'
import {
  clientPaidPayment,
  jettonTransfer,
  sponsoredPayment,
  type TonPaymentBody,
  type TonPaymentOptions,
} from '../../../support/ton/payment.js'
import type { PayerOptions } from '../../../support/ton/tonChain.js'
import { createWallet, randomAddress, randomKeys } from '../../../support/ton/wallets.js'
import { openScene, type Scene } from '../scene.js'

let scene: Scene
let service: CoreClient

beforeAll(async () => {
  scene = await openScene()
  service = await scene.open()
})
afterAll(() => scene.close())

/** Without a reason the payment is valid. */
interface Row {
  readonly title: string
  readonly form?: 'clientPaid' | 'sponsored' | 'both'
  readonly payer?: PayerOptions
  readonly plan?: (given: Pick<TonPaymentOptions, 'chain' | 'wallet'>) => Partial<TonPaymentOptions>
  /** Changes the payload after signing. */
  readonly tamper?: (payload: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  readonly asset?: () => string
  readonly reason?: string
}

const now = () => scene.chain.ledger.now()
const secondMessage = ({ chain, wallet }: Pick<TonPaymentOptions, 'chain' | 'wallet'>): MessageRelaxed[] =>
  [1, 2].map(() => internal({ to: chain.token.walletOf(wallet.address), value: 50_000_000n, bounce: true }))
const changeAuthorization =
  (field: string, value: unknown) => (payload: Readonly<Record<string, unknown>>) => {
    const { authorization } = payload
    return { ...payload, authorization: { ...Object(authorization), [field]: value } }
  }

const rows: readonly Row[] = [
  { title: 'a plain payment' },
  { title: 'send mode 3', plan: () => ({ mode: 3 }) },
  { title: 'invalid cells', tamper: withBoc('AAAA'), reason: 'invalid_boc_format' },
  {
    title: 'a payload that is too long',
    tamper: withBoc('A'.repeat(8_000)),
    reason: 'invalid_payload_structure',
  },
  {
    title: 'an amount one unit too low',
    plan: () => ({ signedAmount: 999_999n }),
    reason: 'insufficient_amount',
  },
  {
    title: 'an amount one unit too high',
    plan: () => ({ signedAmount: 1_000_001n }),
    reason: 'invalid_exact_tvm_payload_amount_mismatch',
  },
  { title: 'an amount of zero', plan: () => ({ amount: 0n }), reason: 'invalid_payment_amount' },
  {
    title: 'another recipient',
    plan: () => ({ destination: randomAddress() }),
    reason: 'recipient_mismatch',
  },
  {
    title: 'the payer as recipient',
    plan: ({ wallet }) => ({ payTo: wallet.address }),
    reason: 'self_payment',
  },
  {
    title: 'a jetton wallet of another owner',
    plan: () => ({ jettonWallet: randomAddress() }),
    reason: 'asset_mismatch',
  },
  {
    title: 'an asset that is not offered',
    asset: () => randomAddress().toString(),
    reason: 'unsupported_asset',
  },
  {
    title: 'another asset in the payload',
    form: 'sponsored',
    tamper: (payload) => ({ ...payload, asset: randomAddress().toRawString() }),
    reason: 'asset_mismatch',
  },
  {
    title: 'a message that expires now',
    plan: () => ({ validUntil: now() }),
    reason: 'authorization_expired',
  },
  { title: 'an expired message', plan: () => ({ validUntil: now() - 5 }), reason: 'authorization_expired' },
  {
    title: 'an expiry after five minutes, as wallets choose it',
    plan: () => ({ validUntil: now() + 300 }),
  },
  {
    title: 'an expiry beyond maxTimeoutSeconds and five minutes',
    plan: () => ({ validUntil: now() + 340 }),
    reason: 'invalid_exact_tvm_payload_valid_until_too_far',
  },
  {
    title: 'send mode 128 (whole balance)',
    plan: () => ({ mode: 128 }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'send mode 32 (destroy)',
    plan: () => ({ mode: 32 }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'a message that is not bounceable',
    plan: () => ({ isBounceable: false }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'a message with state init',
    plan: () => ({ innerInit: true }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'an internal request in signedBoc',
    form: 'clientPaid',
    plan: () => ({ isForRelay: true }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'an external request in settlementBoc',
    form: 'sponsored',
    plan: () => ({ isForRelay: false }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'the layout of another wallet version',
    form: 'clientPaid',
    payer: { kind: 'v3r2' },
    plan: ({ chain, wallet }) => ({
      wallet: { ...createWallet('v4r2', chain.globalId, wallet.keys), address: wallet.address },
      seqno: 0,
    }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'two messages',
    plan: (given) => ({ messages: secondMessage(given) }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'no message',
    plan: () => ({ messages: [] }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'a comment instead of a transfer',
    plan: ({ chain, wallet }) => ({
      messages: [
        internal({
          to: chain.token.walletOf(wallet.address),
          value: 50_000_000n,
          bounce: true,
          body: comment('hello'),
        }),
      ],
    }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'a transfer with a custom payload',
    plan: () => ({ customPayload: beginCell().endCell() }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'a forward amount that is not required',
    form: 'sponsored',
    plan: () => ({ forwardNanoTon: 1n }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'the required forward amount',
    form: 'sponsored',
    plan: () => ({ forwardNanoTon: 1n, extra: { forwardTonAmount: '1' } }),
  },
  {
    title: 'a required forward amount above the limit',
    form: 'sponsored',
    plan: () => ({ forwardNanoTon: 2n, extra: { forwardTonAmount: '2' } }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'a forward amount of the client above its limit',
    form: 'clientPaid',
    plan: () => ({ forwardNanoTon: 10_000_001n }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'no response destination with more attached TON than the transfer needs',
    form: 'sponsored',
    plan: () => ({ responseDestination: null }),
    reason: 'invalid_exact_tvm_payload_attached_ton_amount_too_high',
  },
  {
    title: 'no response destination where the requirements name one',
    form: 'sponsored',
    plan: () => ({
      responseDestination: null,
      extra: { responseDestination: scene.relays[0]?.toRawString() },
    }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'the payer as response destination',
    form: 'sponsored',
    plan: ({ wallet }) => ({
      responseDestination: wallet.address,
      extra: { responseDestination: wallet.address.toRawString() },
    }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'a relay wallet as response destination',
    form: 'sponsored',
    plan: () => ({
      responseDestination: scene.relays[0] ?? null,
      extra: { responseDestination: scene.relays[0]?.toRawString() },
    }),
  },
  {
    title: 'too little attached TON',
    plan: () => ({ nanoTon: 10_000_000n }),
    reason: 'insufficient_ton_attached',
  },
  {
    title: 'attached TON one below the relay minimum',
    form: 'sponsored',
    plan: () => ({ nanoTon: 44_999_999n }),
    reason: 'insufficient_ton_attached',
  },
  {
    title: 'too little attached TON beside the forward amount',
    form: 'sponsored',
    plan: () => ({
      nanoTon: 45_000_000n,
      forwardNanoTon: 1n,
      extra: { forwardTonAmount: '1' },
    }),
    reason: 'insufficient_ton_attached',
  },
  {
    title: 'a message with explicit fees',
    plan: ({ chain, wallet }) => {
      const [plain] = secondMessage({ chain, wallet })
      if (plain?.info.type !== 'internal') throw new Error('Not an internal message')
      const info = { ...plain.info, forwardFee: 40_000_000n }
      return {
        messages: [{ ...plain, info, body: jettonTransfer({ chain, wallet, payTo: wallet.address }) }],
      }
    },
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'attached TON above the relay maximum',
    form: 'sponsored',
    plan: () => ({ nanoTon: 60_000_001n }),
    reason: 'invalid_exact_tvm_payload_attached_ton_amount_too_high',
  },
  {
    title: 'attached TON above the client maximum',
    form: 'clientPaid',
    plan: () => ({ nanoTon: 500_000_001n }),
    reason: 'invalid_exact_tvm_payload_attached_ton_amount_too_high',
  },
  {
    title: 'a payer with too little TON',
    form: 'clientPaid',
    payer: { nanoTon: 60_000_000n },
    reason: 'insufficient_ton_for_gas',
  },
  { title: 'a wallet without TON', form: 'sponsored', payer: { nanoTon: 0n } },
  { title: 'an undeployed wallet', form: 'sponsored', payer: { nanoTon: 0n, isDeployed: false } },
  {
    title: 'an undeployed wallet',
    form: 'clientPaid',
    payer: { isDeployed: false },
    plan: () => ({ seqno: 0 }),
    reason: 'wallet_not_deployed',
  },
  {
    title: 'an undeployed wallet with state init',
    form: 'clientPaid',
    payer: { isDeployed: false },
    plan: () => ({ seqno: 0, withInit: true }),
    reason: 'wallet_not_deployed',
  },
  {
    title: 'a deployed wallet with state init',
    form: 'clientPaid',
    plan: () => ({ withInit: true }),
    reason: 'invalid_boc_format',
  },
  {
    title: 'a deployed wallet with state init',
    form: 'sponsored',
    plan: () => ({ withInit: true }),
  },
  {
    title: 'an undeployed wallet without state init',
    form: 'sponsored',
    payer: { isDeployed: false },
    plan: () => ({ withInit: false }),
    reason: 'wallet_not_deployed',
  },
  {
    title: 'a signature of another key',
    plan: () => ({ signer: randomKeys() }),
    reason: 'message_verification_failed',
  },
  {
    title: 'a signature of another key for an undeployed wallet',
    form: 'sponsored',
    payer: { nanoTon: 0n, isDeployed: false },
    plan: () => ({ signer: randomKeys() }),
    reason: 'message_verification_failed',
  },
  { title: 'a seqno one too high', plan: () => ({ seqno: 1 }), reason: 'seqno_too_high' },
  { title: 'a payer without jettons', payer: { coins: 0n }, reason: 'insufficient_jetton_balance' },
  {
    title: 'a payer with one unit too few',
    payer: { coins: 999_999n },
    reason: 'insufficient_jetton_balance',
  },
  ...(['from', 'to', 'jettonMaster'] as const).map(
    (field): Row => ({
      title: `another ${field} in the authorization`,
      form: 'clientPaid',
      tamper: changeAuthorization(field, randomAddress().toString()),
      reason: field === 'jettonMaster' ? 'asset_mismatch' : 'authorization_mismatch',
    }),
  ),
  {
    title: 'another jettonAmount in the authorization',
    form: 'clientPaid',
    tamper: changeAuthorization('jettonAmount', '7'),
    reason: 'authorization_mismatch',
  },
  ...(['tonAmount', 'queryId', 'validUntil', 'seqno'] as const).flatMap((field): Row[] => [
    {
      title: `another ${field} in the authorization, which moves no money`,
      form: 'clientPaid',
      tamper: changeAuthorization(field, 7),
    },
    {
      title: `an authorization without ${field}`,
      form: 'clientPaid',
      tamper: changeAuthorization(field, undefined),
    },
  ]),
]

function withBoc(text: string) {
  return (payload: Readonly<Record<string, unknown>>) =>
    'signedBoc' in payload ? { ...payload, signedBoc: text } : { ...payload, settlementBoc: text }
}

const cases = rows.flatMap(({ form = 'both', ...row }) =>
  (['clientPaid', 'sponsored'] as const)
    .filter((each) => form === 'both' || form === each)
    .map((each) => ({ ...row, form: each, verdict: row.reason === undefined ? 'accepts' : 'refuses' })),
)

const withPayload = (body: TonPaymentBody, payload: object) => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload },
})

describe('checks of exact on TON', () => {
  it.each(cases)('$form: $verdict $title', async ({ form, payer, plan, tamper, asset, reason }) => {
    const { chain } = scene
    const wallet = await chain.createPayer(payer)
    const sign = form === 'clientPaid' ? clientPaidPayment : sponsoredPayment
    const signed = await sign({ chain, wallet, payTo: randomAddress(), ...plan?.({ chain, wallet }) })
    const { payload } = signed.paymentPayload
    const body = withPayload(signed, tamper === undefined ? payload : tamper(payload))
    const named = { ...body.paymentRequirements, ...(asset === undefined ? {} : { asset: asset() }) }
    const verdict = await service.verify({
      paymentPayload: { ...body.paymentPayload, accepted: named },
      paymentRequirements: named,
    })
    if (reason === undefined) expect(verdict).toMatchObject({ isValid: true })
    else expect(verdict).toMatchObject({ isValid: false, invalidReason: reason })
  })

  it('refuses a wallet with unknown code, whatever key it claims', async () => {
    const { chain } = scene
    const wallet = createWallet('v5r1', chain.globalId)
    const stranger = { ...wallet, init: { ...wallet.init, code: beginCell().storeUint(1, 8).endCell() } }
    await chain.deploy(stranger)
    await chain.token.mint(wallet.address, 5_000_000n)
    const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress(), seqno: 0 })
    expect(await service.verify(body)).toMatchObject({
      invalidReason: 'invalid_exact_tvm_payload_invalid_code_hash',
    })
  })

  it('refuses to relay for a wallet with extensions, which could move the jettons while our TON is in flight', async () => {
    const { chain } = scene
    const wallet = createWallet('v5r1', chain.globalId)
    const data = wallet.init.data.beginParse()
    const extended = beginCell().storeBits(data.loadBits(321)).storeBit(true).storeRef(beginCell().endCell())
    await chain.deploy({ ...wallet, init: { ...wallet.init, data: extended.endCell() } })
    await chain.fund(wallet.address, 1_000_000_000n)
    await chain.token.mint(wallet.address, 5_000_000n)
    const payTo = randomAddress()
    expect(await service.verify(await sponsoredPayment({ chain, wallet, payTo }))).toMatchObject({
      invalidReason: 'invalid_exact_tvm_payload_extensions_dict_mismatch',
    })
    expect(await service.verify(await clientPaidPayment({ chain, wallet, payTo }))).toMatchObject({
      isValid: true,
    })
  })

  it('refuses a message of a v5 wallet for the other network', async () => {
    const { chain } = scene
    const wallet = createWallet('v5r1', -239)
    await chain.deploy(wallet)
    await chain.token.mint(wallet.address, 5_000_000n)
    const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress() })
    expect(await service.verify(body)).toMatchObject({
      invalidReason: 'invalid_exact_tvm_payload_wallet_id_mismatch',
    })
  })

  it.each([
    ['an internal message', clientPaidPayment, sponsoredPayment],
    ['an external message', sponsoredPayment, clientPaidPayment],
  ])('refuses %s in the payload of the other form', async (_, into, from) => {
    const { chain } = scene
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const [body, other] = [await into({ chain, wallet, payTo }), await from({ chain, wallet, payTo })]
    const boc = other.paymentPayload.payload.settlementBoc ?? other.paymentPayload.payload.signedBoc
    const verdict = await service.verify(withPayload(body, withBoc(String(boc))(body.paymentPayload.payload)))
    expect(verdict).toMatchObject({ isValid: false, invalidReason: 'invalid_boc_format' })
  })
})
