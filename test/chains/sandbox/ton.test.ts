import {
  Address,
  beginCell,
  type Cell,
  external,
  internal,
  storeMessage,
  storeMessageRelaxed,
} from '@ton/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createWallet, randomAddress, randomKeys, type TestWallet } from '../../support/ton/wallets.js'
import { openScene, resolve, type Scene } from './scene.js'

const network = 'ton:testnet'
const globalId = -3
const mainnetGlobalId = -239
const master = 'kQD0GKBM8ZbryVk2aESmzfU6b9b_8era_IkvBSELujFZPsyy'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

interface Plan {
  readonly wallet?: TestWallet
  readonly payTo?: Address
  readonly destination?: Address
  readonly amount?: bigint
  readonly signedAmount?: bigint
  readonly lifetimeSeconds?: number
  readonly jettonMaster?: string
  /** Signs instead of the owner. */
  readonly signer?: TestWallet['keys']
}

const toBase64 = (cell: Cell): string => cell.toBoc().toString('base64')

/** TEP-74. */
const jettonTransfer = (
  plan: Required<Pick<Plan, 'destination' | 'signedAmount'>>,
  response: Address | null,
  forward: bigint,
) =>
  beginCell()
    .storeUint(0x0f8a7ea5, 32)
    .storeUint(7, 64)
    .storeCoins(plan.signedAmount)
    .storeAddress(plan.destination)
    .storeAddress(response)
    .storeMaybeRef(null)
    .storeCoins(forward)
    .storeMaybeRef(null)
    .endCell()

const complete = (plan: Plan) => {
  const { payTo = randomAddress(), amount = 1_000_000n, jettonMaster = master, lifetimeSeconds = 60 } = plan
  const { wallet = createWallet('v5r1', globalId), destination = payTo, signedAmount = amount } = plan
  const validUntil = Math.floor(scene.clock.now().getTime() / 1_000) + lifetimeSeconds
  const requirements = {
    scheme: 'exact',
    network,
    amount: amount.toString(),
    asset: master,
    payTo: payTo.toString(),
    maxTimeoutSeconds: 60,
    extra: {},
  }
  return { wallet, destination, signedAmount, jettonMaster, validUntil, requirements }
}

const signBody = (
  plan: Plan,
  facts: ReturnType<typeof complete>,
  isInternal: boolean,
  response: Address | null,
) => {
  const { wallet, validUntil } = facts
  const body = jettonTransfer(facts, response, isInternal ? 0n : 1n)
  const value = isInternal ? 50_000_000n : 100_000_000n
  return wallet.sign({
    seqno: 0,
    validUntil,
    messages: [internal({ to: randomAddress(), value, bounce: true, body })],
    isInternal,
    ...(plan.signer === undefined ? {} : { signer: plan.signer }),
  })
}

const bodyOf = (requirements: object, payload: object) => ({
  paymentPayload: { accepted: requirements, payload },
  paymentRequirements: requirements,
})

/** As the t402 client writes it. */
const clientPaid = (plan: Plan = {}) => {
  const facts = complete(plan)
  const { wallet, destination, signedAmount, jettonMaster, requirements } = facts
  const body = signBody(plan, facts, false, wallet.address)
  return bodyOf(requirements, {
    signedBoc: toBase64(
      beginCell()
        .store(storeMessage(external({ to: wallet.address, body })))
        .endCell(),
    ),
    authorization: {
      from: wallet.address.toString(),
      to: destination.toString(),
      jettonMaster,
      jettonAmount: signedAmount.toString(),
    },
  })
}

/** As the x402 client writes it for a wallet that is not deployed, so that the message carries its key. */
const sponsored = (plan: Plan = {}) => {
  const facts = complete(plan)
  const { wallet, jettonMaster, requirements } = facts
  const responseDestination = String(scene.find('exact', network).describeKind()?.extra?.responseDestination)
  const body = signBody(plan, facts, true, Address.parse(responseDestination))
  const message = internal({ to: wallet.address, value: 0n, body, init: wallet.init })
  return bodyOf(
    { ...requirements, extra: { responseDestination } },
    {
      settlementBoc: toBase64(beginCell().store(storeMessageRelaxed(message)).endCell()),
      asset: jettonMaster,
    },
  )
}

describe('exact on the TON testnet', () => {
  it.each([
    ['by the client', clientPaid, 'v5r1'],
    ['by the client, whose wallet is older', clientPaid, 'v4r2'],
    ['by the facilitator', sponsored, 'v5r1'],
  ] as const)(
    'verifies and settles what a new wallet signs, with gas paid %s',
    async (_title, create, kind) => {
      const wallet = createWallet(kind, globalId)
      const body = create({ wallet })
      expect(await scene.verify(body)).toMatchObject({
        isValid: true,
        payer: wallet.address.toRawString(),
        amount: 1_000_000n,
      })
      const { outcome, row, scheme } = await scene.settle(body)
      expect(outcome).toEqual({ state: 'confirmed', transaction: row.transaction })
      expect(row.transaction).toMatch(/^5a4db0[0-9a-f]{58}$/)
      expect(await resolve(scheme, row)).toEqual(outcome)
      expect(
        await scheme.network.getBlockStatus({ number: 1n, hash: 'any' }, AbortSignal.timeout(waitLimitMs)),
      ).toBe('final')
    },
  )

  it.each([
    ['another recipient', { destination: randomAddress() }, 'recipient_mismatch'],
    ['an amount that is too low', { signedAmount: 999_999n }, 'insufficient_amount'],
    ['an expired message', { lifetimeSeconds: 0 }, 'authorization_expired'],
    ['another jetton', { jettonMaster: randomAddress().toString() }, 'asset_mismatch'],
    [
      'a wallet of another network',
      { wallet: createWallet('v5r1', mainnetGlobalId) },
      'invalid_exact_tvm_payload_wallet_id_mismatch',
    ],
  ] as const)('refuses %s', async (_title, plan, reason) => {
    for (const create of [clientPaid, sponsored]) {
      expect(await scene.verify(create(plan))).toMatchObject({ isValid: false, reason })
    }
  })

  it('refuses a signature of another key', async () => {
    expect(await scene.verify(sponsored({ signer: randomKeys() }))).toMatchObject({
      isValid: false,
      reason: 'message_verification_failed',
    })
  })

  it('refuses at /settle what expires before it could land', async () => {
    const body = clientPaid({ lifetimeSeconds: 15 })
    expect((await scene.verify(body)).isValid).toBe(true)
    expect(await scene.verify(body, true)).toMatchObject({ reason: 'authorization_expired' })
  })
})
