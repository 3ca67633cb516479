import { beginCell, comment, internal, type MessageRelaxed } from '@ton/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AskedCore } from '../../../support/askCore.js'
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
let service: AskedCore

beforeAll(async () => {
  scene = await openScene()
  service = await scene.open()
})
afterAll(() => scene.close())

/** A row of the table: what is asked, and the reason with which it is refused, or none. */
interface Row {
  readonly title: string
  readonly form?: 'clientPaid' | 'sponsored' | 'both'
  readonly payer?: PayerOptions
  readonly plan?: (given: Pick<TonPaymentOptions, 'chain' | 'wallet'>) => Partial<TonPaymentOptions>
  /** What becomes of the payload after it was signed. */
  readonly spoil?: (payload: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  readonly asset?: () => string
  readonly reason?: string
}

const now = () => scene.chain.ledger.now()
const secondMessage = ({ chain, wallet }: Pick<TonPaymentOptions, 'chain' | 'wallet'>): MessageRelaxed[] =>
  [1, 2].map(() => internal({ to: chain.token.walletOf(wallet.address), value: 50_000_000n, bounce: true }))
const changeCopy = (field: string, value: unknown) => (payload: Readonly<Record<string, unknown>>) => {
  const { authorization } = payload
  return { ...payload, authorization: { ...Object(authorization), [field]: value } }
}

const rows: readonly Row[] = [
  { title: 'Plain' },
  { title: 'Mode 3', plan: () => ({ mode: 3 }) },
  { title: 'Payload: junk in place of cells', spoil: junk('AAAA'), reason: 'invalid_boc_format' },
  {
    title: 'Payload: longer than a payment is',
    spoil: junk('A'.repeat(8_000)),
    reason: 'invalid_payload_structure',
  },
  { title: 'Amount: one below', plan: () => ({ signedAmount: 999_999n }), reason: 'insufficient_amount' },
  {
    title: 'Amount: one above',
    plan: () => ({ signedAmount: 1_000_001n }),
    reason: 'invalid_exact_tvm_payload_amount_mismatch',
  },
  { title: 'Amount: nothing', plan: () => ({ amount: 0n }), reason: 'insufficient_amount' },
  {
    title: 'Recipient: another',
    plan: () => ({ destination: randomAddress() }),
    reason: 'recipient_mismatch',
  },
  {
    title: 'Recipient: the payer',
    plan: ({ wallet }) => ({ payTo: wallet.address }),
    reason: 'self_payment',
  },
  {
    title: 'Asset: a jetton wallet that is not the payer’s',
    plan: () => ({ jettonWallet: randomAddress() }),
    reason: 'asset_mismatch',
  },
  {
    title: 'Asset: one that we do not settle',
    asset: () => randomAddress().toString(),
    reason: 'unsupported_asset',
  },
  { title: 'Asset: no address', asset: () => 'gold', reason: 'unsupported_asset' },
  {
    title: 'Asset: the payload names another',
    form: 'sponsored',
    spoil: (payload) => ({ ...payload, asset: randomAddress().toRawString() }),
    reason: 'asset_mismatch',
  },
  { title: 'Time: ends now', plan: () => ({ validUntil: now() }), reason: 'authorization_expired' },
  { title: 'Time: ended', plan: () => ({ validUntil: now() - 5 }), reason: 'authorization_expired' },
  {
    title: 'Time: longer than maxTimeoutSeconds',
    plan: () => ({ validUntil: now() + 120 }),
    reason: 'invalid_exact_tvm_payload_valid_until_too_far',
  },
  {
    title: 'Mode: all that is left',
    plan: () => ({ mode: 128 }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Mode: destroy the wallet',
    plan: () => ({ mode: 32 }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Message: not bounceable',
    plan: () => ({ isBounceable: false }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Message: with code',
    plan: () => ({ innerInit: true }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Message: to be relayed, in the form that is not',
    form: 'clientPaid',
    plan: () => ({ isForRelay: true }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Message: not to be relayed, in the form that is',
    form: 'sponsored',
    plan: () => ({ isForRelay: false }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Message: laid out for another version than the wallet’s',
    form: 'clientPaid',
    payer: { kind: 'v3r2' },
    plan: ({ chain, wallet }) => ({
      wallet: { ...createWallet('v4r2', chain.globalId, wallet.keys), address: wallet.address },
      seqno: 0,
    }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Messages: two',
    plan: (given) => ({ messages: secondMessage(given) }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Messages: none',
    plan: () => ({ messages: [] }),
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'Transfer: a comment in its place',
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
    title: 'Transfer: with a custom payload',
    plan: () => ({ customPayload: beginCell().endCell() }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'Transfer: forwards what nobody asked for',
    form: 'sponsored',
    plan: () => ({ forwardNanoTon: 1n }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'Transfer: forwards what is asked for',
    form: 'sponsored',
    plan: () => ({ forwardNanoTon: 1n, extra: { forwardTonAmount: '1' } }),
  },
  {
    title: 'Transfer: forwards more than we give away',
    form: 'sponsored',
    plan: () => ({
      nanoTon: 60_000_000n,
      forwardNanoTon: 10_000_001n,
      extra: { forwardTonAmount: '10000001' },
    }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'Transfer: the rest of our TON goes to the payer',
    form: 'sponsored',
    plan: ({ wallet }) => ({
      responseDestination: wallet.address,
      extra: { responseDestination: wallet.address.toRawString() },
    }),
    reason: 'invalid_exact_tvm_payload_jetton_transfer',
  },
  {
    title: 'Transfer: the rest of our TON comes back',
    form: 'sponsored',
    plan: () => ({
      responseDestination: scene.relays[0] ?? null,
      extra: { responseDestination: scene.relays[0]?.toRawString() },
    }),
  },
  { title: 'TON: too little', plan: () => ({ nanoTon: 10_000_000n }), reason: 'insufficient_ton_attached' },
  {
    title: 'TON: too little for the transfer to arrive, so that ours would stay with the payer',
    form: 'sponsored',
    plan: () => ({ nanoTon: 44_999_999n }),
    reason: 'insufficient_ton_attached',
  },
  {
    title: 'TON: too little beside what is forwarded',
    form: 'sponsored',
    plan: () => ({
      nanoTon: 50_000_000n,
      forwardNanoTon: 6_000_000n,
      extra: { forwardTonAmount: '6000000' },
    }),
    reason: 'insufficient_ton_attached',
  },
  {
    title: 'Message: names fees of its own',
    plan: ({ chain, wallet }) => {
      const [plain] = secondMessage({ chain, wallet })
      if (plain?.info.type !== 'internal') throw new Error('It is no message')
      const info = { ...plain.info, forwardFee: 40_000_000n }
      return {
        messages: [{ ...plain, info, body: jettonTransfer({ chain, wallet, payTo: wallet.address }) }],
      }
    },
    reason: 'invalid_exact_tvm_payload_w5_actions',
  },
  {
    title: 'TON: more than we attach',
    form: 'sponsored',
    plan: () => ({ nanoTon: 60_000_001n }),
    reason: 'invalid_exact_tvm_payload_attached_ton_amount_too_high',
  },
  {
    title: 'TON: more than a transfer costs',
    form: 'clientPaid',
    plan: () => ({ nanoTon: 500_000_001n }),
    reason: 'invalid_exact_tvm_payload_attached_ton_amount_too_high',
  },
  {
    title: 'TON: the payer has too little',
    form: 'clientPaid',
    payer: { nanoTon: 60_000_000n },
    reason: 'insufficient_ton_for_gas',
  },
  { title: 'Wallet: has no TON', form: 'sponsored', payer: { nanoTon: 0n } },
  { title: 'Wallet: not deployed', form: 'sponsored', payer: { nanoTon: 0n, isDeployed: false } },
  {
    title: 'Wallet: not deployed',
    form: 'clientPaid',
    payer: { isDeployed: false },
    plan: () => ({ seqno: 0 }),
    reason: 'wallet_not_deployed',
  },
  {
    title: 'Wallet: not deployed, and to be deployed by its owner’s message',
    form: 'clientPaid',
    payer: { isDeployed: false },
    plan: () => ({ seqno: 0, withInit: true }),
    reason: 'wallet_not_deployed',
  },
  {
    title: 'Wallet: deployed, and to be deployed again',
    form: 'clientPaid',
    plan: () => ({ withInit: true }),
    reason: 'invalid_boc_format',
  },
  {
    title: 'Wallet: deployed, and to be deployed again',
    form: 'sponsored',
    plan: () => ({ withInit: true }),
  },
  {
    title: 'Wallet: not deployed, and nothing to deploy it with',
    form: 'sponsored',
    payer: { isDeployed: false },
    plan: () => ({ withInit: false }),
    reason: 'wallet_not_deployed',
  },
  {
    title: 'Signature: by somebody else',
    plan: () => ({ signer: randomKeys() }),
    reason: 'message_verification_failed',
  },
  {
    title: 'Signature: by somebody else, of a wallet that is not deployed',
    form: 'sponsored',
    payer: { nanoTon: 0n, isDeployed: false },
    plan: () => ({ signer: randomKeys() }),
    reason: 'message_verification_failed',
  },
  { title: 'Number: one ahead', plan: () => ({ seqno: 1 }), reason: 'seqno_too_high' },
  { title: 'Coins: none', payer: { coins: 0n }, reason: 'insufficient_jetton_balance' },
  { title: 'Coins: one too few', payer: { coins: 999_999n }, reason: 'insufficient_jetton_balance' },
  ...(['from', 'to', 'jettonMaster'] as const).map(
    (field): Row => ({
      title: `Copy: another ${field}`,
      form: 'clientPaid',
      spoil: changeCopy(field, randomAddress().toString()),
      reason: field === 'jettonMaster' ? 'asset_mismatch' : 'authorization_mismatch',
    }),
  ),
  ...(['jettonAmount', 'tonAmount', 'queryId'] as const).map(
    (field): Row => ({
      title: `Copy: another ${field}`,
      form: 'clientPaid',
      spoil: changeCopy(field, '7'),
      reason: 'authorization_mismatch',
    }),
  ),
  ...(['validUntil', 'seqno'] as const).map(
    (field): Row => ({
      title: `Copy: another ${field}`,
      form: 'clientPaid',
      spoil: changeCopy(field, 7),
      reason: 'authorization_mismatch',
    }),
  ),
]

function junk(text: string) {
  return (payload: Readonly<Record<string, unknown>>) =>
    'signedBoc' in payload ? { ...payload, signedBoc: text } : { ...payload, settlementBoc: text }
}

const cases = rows.flatMap(({ form = 'both', ...row }) =>
  (['clientPaid', 'sponsored'] as const)
    .filter((each) => form === 'both' || form === each)
    .map((each) => ({ ...row, form: each })),
)

const withPayload = (body: TonPaymentBody, payload: object) => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload },
})

describe('exact on TON', () => {
  it.each(cases)('$form: $title', async ({ form, payer, plan, spoil, asset, reason }) => {
    const { chain } = scene
    const wallet = await chain.createPayer(payer)
    const sign = form === 'clientPaid' ? clientPaidPayment : sponsoredPayment
    const signed = await sign({ chain, wallet, payTo: randomAddress(), ...plan?.({ chain, wallet }) })
    const { payload } = signed.paymentPayload
    const body = withPayload(signed, spoil === undefined ? payload : spoil(payload))
    const named = { ...body.paymentRequirements, ...(asset === undefined ? {} : { asset: asset() }) }
    const verdict = await service.verify({
      paymentPayload: { ...body.paymentPayload, accepted: named },
      paymentRequirements: named,
    })
    if (reason === undefined) expect(verdict).toMatchObject({ isValid: true })
    else expect(verdict).toMatchObject({ isValid: false, invalidReason: reason })
  })

  it('refuses a wallet whose code it does not know, whatever key it shows', async () => {
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

  it('relays for no wallet that extensions act for: one could take the coins while our TON travels', async () => {
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

  it('refuses a message for a wallet of version 5 on the other network', async () => {
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
    ['a message that is to be relayed', clientPaidPayment, sponsoredPayment],
    ['a message that is not to be relayed', sponsoredPayment, clientPaidPayment],
  ])('refuses %s in the other form', async (_, into, from) => {
    const { chain } = scene
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const [body, other] = [await into({ chain, wallet, payTo }), await from({ chain, wallet, payTo })]
    const boc = other.paymentPayload.payload.settlementBoc ?? other.paymentPayload.payload.signedBoc
    const verdict = await service.verify(withPayload(body, junk(String(boc))(body.paymentPayload.payload)))
    expect(verdict).toMatchObject({ isValid: false, invalidReason: 'invalid_boc_format' })
  })
})
