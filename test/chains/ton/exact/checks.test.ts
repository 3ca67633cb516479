import { beginCell, comment, internal, type MessageRelaxed } from '@ton/core'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ByReason, listByReason } from '../../../support/byReason.js'
import type { CoreClient } from '../../../support/coreClient.js'
import { expectExplained } from '../../../support/explained.js'
import {
  clientPaidPayment,
  jettonTransfer,
  sponsoredPayment,
  type TonPaymentBody,
  type TonPaymentOptions,
} from '../../../support/ton/payment.js'
import type { PayerOptions } from '../../../support/ton/tonChain.js'
import { createWallet, randomAddress, randomKeys } from '../../../support/ton/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'

const scene = useScene(openScene, { isResetAfterEach: false })
let service: CoreClient

beforeAll(async () => {
  service = await scene.open()
})
// No message comes nearer to its expiry while it is signed and verified.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

interface Case {
  readonly form?: 'clientPaid' | 'sponsored' | 'both'
  readonly payer?: PayerOptions
  readonly plan?: (given: Pick<TonPaymentOptions, 'chain' | 'wallet'>) => Partial<TonPaymentOptions>
  /** Changes the payload after signing. */
  readonly tamper?: (payload: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  readonly asset?: () => string
}

const now = () => scene.chain.ledger.now()
const secondMessage = ({ chain, wallet }: Pick<TonPaymentOptions, 'chain' | 'wallet'>): MessageRelaxed[] =>
  [1, 2].map(() => internal({ to: chain.token.walletOf(wallet.address), value: 50_000_000n, bounce: true }))
const changeAuthorization =
  (field: string, value: unknown) => (payload: Readonly<Record<string, unknown>>) => {
    const { authorization } = payload
    return { ...payload, authorization: { ...Object(authorization), [field]: value } }
  }

const changed = (field: string, value: unknown): Case => ({
  form: 'clientPaid',
  tamper: changeAuthorization(field, value),
})

const rows: ByReason<Case> = {
  valid: {
    ...Object.fromEntries(
      ['tonAmount', 'queryId', 'validUntil', 'seqno'].flatMap((field) => [
        [`another ${field} in the authorization, which moves no money`, changed(field, 7)],
        [`an authorization without ${field}`, changed(field, undefined)],
      ]),
    ),
    'a plain payment': {},
    'send mode 3': { plan: () => ({ mode: 3 }) },
    'an expiry after five minutes, as wallets choose it': { plan: () => ({ validUntil: now() + 300 }) },
    'the required forward amount': {
      form: 'sponsored',
      plan: () => ({ forwardNanoTon: 1n, extra: { forwardTonAmount: '1' } }),
    },
    'a relay wallet as response destination': {
      form: 'sponsored',
      plan: () => ({
        responseDestination: scene.relays[0] ?? null,
        extra: { responseDestination: scene.relays[0]?.toRawString() },
      }),
    },
    'a wallet without TON': { form: 'sponsored', payer: { nanoTon: 0n } },
    'an undeployed wallet': { form: 'sponsored', payer: { nanoTon: 0n, isDeployed: false } },
    'a deployed wallet with state init': { form: 'sponsored', plan: () => ({ withInit: true }) },
  },
  invalid_boc_format: {
    'invalid cells': { tamper: withBoc('AAAA') },
    'a deployed wallet with state init': { form: 'clientPaid', plan: () => ({ withInit: true }) },
  },
  invalid_payload_structure: {
    'a payload that is too long': { tamper: withBoc('A'.repeat(8_000)) },
  },
  insufficient_amount: {
    'an amount one unit too low': { plan: () => ({ signedAmount: 999_999n }) },
  },
  invalid_exact_tvm_payload_amount_mismatch: {
    'an amount one unit too high': { plan: () => ({ signedAmount: 1_000_001n }) },
  },
  invalid_payment_amount: {
    'an amount of zero': { plan: () => ({ amount: 0n }) },
  },
  recipient_mismatch: {
    'another recipient': { plan: () => ({ destination: randomAddress() }) },
  },
  self_payment: {
    'the payer as recipient': { plan: ({ wallet }) => ({ payTo: wallet.address }) },
  },
  asset_mismatch: {
    'another jettonMaster in the authorization': changed('jettonMaster', randomAddress().toString()),
    'a jetton wallet of another owner': { plan: () => ({ jettonWallet: randomAddress() }) },
    'another asset in the payload': {
      form: 'sponsored',
      tamper: (payload) => ({ ...payload, asset: randomAddress().toRawString() }),
    },
  },
  unsupported_asset: {
    'an asset that is not offered': { asset: () => randomAddress().toString() },
  },
  authorization_expired: {
    'a message that expires now': { plan: () => ({ validUntil: now() }) },
    'an expired message': { plan: () => ({ validUntil: now() - 5 }) },
  },
  invalid_exact_tvm_payload_valid_until_too_far: {
    'an expiry beyond maxTimeoutSeconds and five minutes': { plan: () => ({ validUntil: now() + 340 }) },
  },
  invalid_exact_tvm_payload_w5_actions: {
    'send mode 128 (whole balance)': { plan: () => ({ mode: 128 }) },
    'send mode 32 (destroy)': { plan: () => ({ mode: 32 }) },
    'a message that is not bounceable': { plan: () => ({ isBounceable: false }) },
    'a message with state init': { plan: () => ({ innerInit: true }) },
    'an internal request in signedBoc': { form: 'clientPaid', plan: () => ({ isForRelay: true }) },
    'an external request in settlementBoc': { form: 'sponsored', plan: () => ({ isForRelay: false }) },
    'the layout of another wallet version': {
      form: 'clientPaid',
      payer: { kind: 'v3r2' },
      plan: ({ chain, wallet }) => ({
        wallet: { ...createWallet('v4r2', chain.globalId, wallet.keys), address: wallet.address },
        seqno: 0,
      }),
    },
    'two messages': { plan: (given) => ({ messages: secondMessage(given) }) },
    'no message': { plan: () => ({ messages: [] }) },
    'a message with explicit fees': {
      plan: ({ chain, wallet }) => {
        const [plain] = secondMessage({ chain, wallet })
        if (plain?.info.type !== 'internal') throw new Error('Not an internal message')
        const info = { ...plain.info, forwardFee: 40_000_000n }
        return {
          messages: [{ ...plain, info, body: jettonTransfer({ chain, wallet, payTo: wallet.address }) }],
        }
      },
    },
  },
  invalid_exact_tvm_payload_jetton_transfer: {
    'a comment instead of a transfer': {
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
    },
    'a transfer with a custom payload': { plan: () => ({ customPayload: beginCell().endCell() }) },
    'a forward amount that is not required': { form: 'sponsored', plan: () => ({ forwardNanoTon: 1n }) },
    'a required forward amount above the limit': {
      form: 'sponsored',
      plan: () => ({ forwardNanoTon: 2n, extra: { forwardTonAmount: '2' } }),
    },
    'a forward amount of the client above its limit': {
      form: 'clientPaid',
      plan: () => ({ forwardNanoTon: 10_000_001n }),
    },
    'no response destination where the requirements name one': {
      form: 'sponsored',
      plan: () => ({
        responseDestination: null,
        extra: { responseDestination: scene.relays[0]?.toRawString() },
      }),
    },
    'the payer as response destination': {
      form: 'sponsored',
      plan: ({ wallet }) => ({
        responseDestination: wallet.address,
        extra: { responseDestination: wallet.address.toRawString() },
      }),
    },
  },
  invalid_exact_tvm_payload_attached_ton_amount_too_high: {
    'no response destination with more attached TON than the transfer needs': {
      form: 'sponsored',
      plan: () => ({ responseDestination: null }),
    },
    'attached TON above the relay maximum': { form: 'sponsored', plan: () => ({ nanoTon: 60_000_001n }) },
    'attached TON above the client maximum': { form: 'clientPaid', plan: () => ({ nanoTon: 500_000_001n }) },
  },
  insufficient_ton_attached: {
    'too little attached TON': { plan: () => ({ nanoTon: 10_000_000n }) },
    'attached TON one below the relay minimum': { form: 'sponsored', plan: () => ({ nanoTon: 44_999_999n }) },
    'too little attached TON beside the forward amount': {
      form: 'sponsored',
      plan: () => ({
        nanoTon: 45_000_000n,
        forwardNanoTon: 1n,
        extra: { forwardTonAmount: '1' },
      }),
    },
  },
  insufficient_ton_for_gas: {
    'a payer with too little TON': { form: 'clientPaid', payer: { nanoTon: 60_000_000n } },
  },
  wallet_not_deployed: {
    'an undeployed wallet': { form: 'clientPaid', payer: { isDeployed: false }, plan: () => ({ seqno: 0 }) },
    'an undeployed wallet with state init': {
      form: 'clientPaid',
      payer: { isDeployed: false },
      plan: () => ({ seqno: 0, withInit: true }),
    },
    'an undeployed wallet without state init': {
      form: 'sponsored',
      payer: { isDeployed: false },
      plan: () => ({ withInit: false }),
    },
  },
  message_verification_failed: {
    'a signature of another key': { plan: () => ({ signer: randomKeys() }) },
    'a signature of another key for an undeployed wallet': {
      form: 'sponsored',
      payer: { nanoTon: 0n, isDeployed: false },
      plan: () => ({ signer: randomKeys() }),
    },
  },
  seqno_too_high: {
    'a seqno one too high': { plan: () => ({ seqno: 1 }) },
  },
  insufficient_jetton_balance: {
    'a payer without jettons': { payer: { coins: 0n } },
    'a payer with one unit too few': { payer: { coins: 999_999n } },
  },
  authorization_mismatch: {
    'another from in the authorization': changed('from', randomAddress().toString()),
    'another to in the authorization': changed('to', randomAddress().toString()),
    'another jettonAmount in the authorization': {
      form: 'clientPaid',
      tamper: changeAuthorization('jettonAmount', '7'),
    },
  },
}

function withBoc(text: string) {
  return (payload: Readonly<Record<string, unknown>>) =>
    'signedBoc' in payload ? { ...payload, signedBoc: text } : { ...payload, settlementBoc: text }
}

const cases = listByReason(rows).flatMap(([title, reason, { form = 'both', ...row }]) =>
  (['clientPaid', 'sponsored'] as const)
    .filter((each) => form === 'both' || form === each)
    .map((each) => ({ ...row, title, reason, form: each })),
)

const withPayload = (body: TonPaymentBody, payload: object) => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload },
})

describe('checks of exact on TON', () => {
  it.each(cases)('$form: $title is $reason', async ({ form, payer, plan, tamper, asset, reason }) => {
    const { chain } = scene
    const wallet = await chain.createPayer(payer)
    const sign = form === 'clientPaid' ? clientPaidPayment : sponsoredPayment
    const signed = await sign({ chain, wallet, payTo: randomAddress(), ...plan?.({ chain, wallet }) })
    const { payload } = signed.paymentPayload
    const body = withPayload(signed, tamper === undefined ? payload : tamper(payload))
    const named = { ...body.paymentRequirements, ...(asset === undefined ? {} : { asset: asset() }) }
    const asked = { paymentPayload: { ...body.paymentPayload, accepted: named }, paymentRequirements: named }
    const verdict = await service.verify(asked)
    await expectExplained(service, asked, verdict)
    if (reason === 'valid') expect(verdict).toMatchObject({ isValid: true })
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
