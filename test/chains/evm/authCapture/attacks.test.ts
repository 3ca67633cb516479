import { type Address, encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { randomAddress } from '../../../support/evm/authorization.js'
import { waitForReceipt } from '../../../support/evm/chainControl.js'
import {
  asHex,
  callEscrow,
  fundRefunds,
  type Hold,
  planHold,
  published,
  signCapture,
  signRefund,
  signVoid,
  withExtra,
  withPayload,
} from '../../../support/evm/holds.js'
import { permit2Address } from '../../../support/evm/permit2.js'
import { deployTestToken } from '../../../support/evm/testTokens.js'
import {
  createDelegatedEoa,
  createEoa,
  createSoladyWallet,
  deployWallet,
  getSoladyFactory,
} from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'
import { expectRefused, funded } from '../strangers.js'
import { createHolds, type Holds, prefixed, untouched } from './scene.js'

/* What payers, receivers, strangers and tokens do to a hold. A refusal names its reason, and costs no transaction. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
let holds: Holds

beforeEach(async () => {
  holds = createHolds(scene, await scene.open())
})

const openWith = async (environment: Readonly<Record<string, string>>) =>
  createHolds(scene, await scene.open({ environment, signers: holds.service.signers }))

const chainOf = () => ({ chainId: scene.chain.chainId })
const balanceOf = (owner: Address) => scene.chain.balanceOf(owner)

describe('a token', () => {
  const listing = (tokens: string) => openWith({ [`EVM_TOKENS_${scene.chain.chainId}`]: tokens })

  it('that takes a fee of each transfer is not held, also where it is listed', async () => {
    const token = await deployTestToken(scene.chain, 'FeeOnTransferToken')
    const { service, operator } = await listing(token.address)
    const chain = { ...scene.chain, ...token }
    // The collector pulls by ERC-3009 to itself, and cannot pass on what it did not get.
    const { body: pulled } = await planHold(chain, operator)
    await expectRefused(scene, service, pulled, prefixed('simulation_failed'))
    const { account, ...wallet } = await funded(scene)
    const args = [permit2Address, maxUint256] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    await scene.chain.send({ account, to: token.address, data })
    const { body } = await planHold(chain, operator, { wallet, method: 'permit2' })
    await expectRefused(scene, service, body, prefixed('token_collection_failed'))
  })

  it('that the operator does not list is not held, also where any is taken', async () => {
    const token = await deployTestToken(scene.chain, 'LegacyToken3009')
    const { service, operator } = await listing('*')
    const { body } = await planHold({ ...scene.chain, ...token }, operator)
    await expectRefused(scene, service, body, 'unsupported_asset')
  })

  it('that blocks the receiver leaves the hold to a void', async () => {
    const hold = await holds.open()
    await scene.chain.setBlacklisted(hold.payTo, true)
    const capture = await holds.capture(hold, 4_000n)
    await expectRefused(scene, holds.service, capture, prefixed('simulation_failed'))
    expect(await holds.service.settle(await signVoid(hold, chainOf()))).toMatchObject({ success: true })
    expect(await balanceOf(hold.payer)).toBe(10_000n)
  })
})

describe('a wallet', () => {
  it('that is not deployed yet is deployed with its hold, by a factory that the operator lists', async () => {
    const { service, ...listed } = await openWith({
      DEPLOY_ERC4337_WITH_EIP6492: 'true',
      EVM_SMART_WALLET_FACTORIES: await getSoladyFactory(scene.chain),
    })
    const wallet = await createSoladyWallet(scene.chain)
    const hold = await listed.plan({ wallet, isWrapped: true })
    expect(await service.verify(hold.body)).toMatchObject({ isValid: true })
    expect(await service.settle(hold.body)).toMatchObject({ success: true, payer: wallet.address })
    expect(await service.settle(await listed.capture(hold, 4_000n))).toMatchObject({ success: true })
    expect(await balanceOf(hold.payTo)).toBe(4_000n)
  })

  it('by a key whose account has code (EIP-7702) holds where the code accepts the key', async () => {
    const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: true })
    expect(await holds.read(await holds.open({ wallet }))).toMatchObject({ capturableAmount: 10_000n })
  })

  it.each([
    ['eip3009', 'signature'],
    // Permit2 passes on the revert of the account's code, which has no data.
    ['permit2', 'simulation_failed'],
  ] as const)(
    'whose code (EIP-7702) accepts no signature is refused by %s, although its key signed',
    async (method, reason) => {
      const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: false })
      const { body } = await holds.plan({ wallet, method })
      await expectRefused(scene, holds.service, body, prefixed(reason))
    },
  )

  it('decides as the receiver: its contract signs a capture (EIP-1271)', async () => {
    const wallet = await createSoladyWallet(scene.chain)
    await deployWallet(scene.chain, wallet)
    const authorizer = { ...wallet.owner, address: wallet.address, signTypedData: wallet.signTypedData }
    const hold = await holds.open({ authorizer })
    const capture = await holds.capture(hold, 4_000n)
    const forged = withPayload(capture, { amount: '4001' })
    await expectRefused(scene, holds.service, forged, prefixed('authorizer_signature'))
    expect(await holds.service.settle(capture)).toMatchObject({ success: true })
  })
})

describe('a stranger', () => {
  it('cannot collect what a payer signed: the escrow takes it from the operator alone', async () => {
    const hold = await holds.plan()
    const { address } = await funded(scene)
    const signature = asHex(hold.body.paymentPayload.payload.signature)
    const args = [10_000n, published['1.1'].eip3009, signature]
    const sent = await callEscrow(scene.chain, hold, { functionName: 'authorize', args, from: address })
    expect(await waitForReceipt(scene.chain.client, sent)).toMatchObject({ status: 'reverted' })
    expect(await holds.service.settle(hold.body)).toMatchObject({ success: true })
  })

  it('cannot move a hold of one escrow in the other', async () => {
    const hold = await holds.open()
    const other = { authCaptureEscrow: published['1.0'].escrow }
    const bodies = [
      [withExtra(hold.body, other), 'token_collector_mismatch'],
      [withExtra(await holds.capture(hold, 1n), other), 'authorizer_signature'],
      // A void has no fee: only the hash of the payment names the escrow.
      [withExtra(await signVoid(hold, chainOf()), other), 'authorizer_signature'],
    ] as const
    for (const [body, reason] of bodies) await expectRefused(scene, holds.service, body, prefixed(reason))
  })
})

describe('a refund that the operator pays', () => {
  const [captured, refunded] = [10_000n, 10_000n] as const
  const after = { capturable: 0n, refundable: captured }

  /** The payer is the thief: it pays itself all of a capture as its fee, and then asks for a refund. */
  const steal = async (listed: string) => {
    const [merchant, thief] = [createEoa(), createEoa()]
    const { service, ...owned } = await openWith({
      EVM_REFUND_RECEIVERS: listed.replace('merchant', merchant.address).replace('thief', thief.address),
    })
    await fundRefunds(scene.chain, owned.operator, refunded)
    const hold = await owned.open({
      payTo: merchant.address,
      authorizer: thief,
      extra: { maxFeeBps: 10_000 },
    })
    const capture = await signCapture(hold, untouched, {
      ...chainOf(),
      amount: captured,
      fee: captured,
      feeReceiver: thief.address,
    })
    // It counts as no payment of the merchant: neither its volume nor the payer's credit grows.
    expect(await service.settle(capture)).toMatchObject({ success: true, amount: '0' })
    expect(await balanceOf(merchant.address)).toBe(0n)
    const refund = await signRefund(hold, after, { ...chainOf(), amount: refunded })
    return { service, refund, hold }
  }

  it.each([
    ['the receiver alone', 'merchant'],
    ['the thief for another receiver', `merchant,${randomAddress()}:thief`],
  ])('needs the signature that the operator lists with the receiver: it lists %s', async (_what, listed) => {
    const { service, refund, hold } = await steal(listed)
    await expectRefused(scene, service, refund, prefixed('refund_funding_unavailable'))
    expect(await balanceOf(hold.payer)).toBe(0n)
  })
})

describe('a capture', () => {
  it('from one state is made once by two instances, whichever of two amounts comes first', async () => {
    const hold = await holds.open()
    const other = await scene.open({ signers: holds.service.signers })
    const answers = await Promise.all([
      holds.service.settle(await holds.capture(hold, 3_000n)),
      other.settle(await holds.capture(hold, 4_000n)),
    ])
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect([3_000n, 4_000n]).toContain(await balanceOf(hold.payTo))
  })

  it('is the same request with its numbers as numbers, with zeros in front, and in other letter case', async () => {
    const hold = await holds.open()
    const capture = await holds.capture(hold, 4_000n)
    const { paymentInfo } = capture.paymentPayload.payload
    const info = Object(paymentInfo)
    const respelled = withPayload(capture, {
      amount: 4_000,
      fee: 0,
      expectedCapturableAmount: '0010000',
      expectedRefundableAmount: 0,
      saltNonce: String(BigInt(hold.saltNonce)),
      paymentInfo: {
        ...info,
        maxAmount: 10_000,
        authorizationExpiry: String(info.authorizationExpiry),
        receiver: String(info.receiver).toLowerCase(),
      },
    })
    expect(await holds.service.verify(respelled)).toMatchObject({ isValid: true })
    expect(await holds.service.settle(capture)).toMatchObject({ success: true })
    expect(await holds.service.settle(respelled)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await balanceOf(hold.payTo)).toBe(4_000n)
  })

  it('of the rest of a hold is not refused by a minimum, as one of a part is', async () => {
    const hold = await holds.open()
    const service = await openWith({ [`EVM_MIN_PAYMENT_${scene.chain.chainId}`]: '1000000' })
    const part = await holds.capture(hold, 9_999n)
    await expectRefused(scene, service.service, part, 'payment_below_minimum')
    const rest = await holds.capture(hold, 10_000n)
    expect(await service.service.verify(rest)).toMatchObject({ isValid: true })
    expect(await service.service.settle(rest)).toMatchObject({ success: true, amount: '10000' })
  })
})

describe('fields', () => {
  const tooLong = '1'.repeat(100_000)
  const junk = [null, -1, 1.5, 2 ** 53, '', '0x', '1e3', String(2n ** 256n), [], {}, tooLong] as const
  /** Their absence is no error of form: the signature is missing, or the binding. */
  const isOptional = (path: string) =>
    ['authorizerSignature', 'saltNonce', 'voidAuthorizerSignature'].includes(path)

  const change = (payload: object, path: string, value: unknown): Record<string, unknown> => {
    const [first = '', second] = path.split('.')
    const before = Object(payload)
    return { ...before, [first]: second === undefined ? value : { ...before[first], [second]: value } }
  }

  it.each(['capture', 'void'] as const)('of a %s that are absent or malformed are refused', async (kind) => {
    const hold: Hold = await holds.open()
    const body = await (kind === 'capture' ? holds.capture(hold, 4_000n) : signVoid(hold, chainOf()))
    const { payload } = body.paymentPayload
    const paths = Object.keys(payload).flatMap((name) =>
      name === 'paymentInfo' ? Object.keys(hold.info).map((each) => `${name}.${each}`) : [name],
    )
    const wrong: unknown[] = []
    for (const path of paths) {
      for (const value of [undefined, ...junk]) {
        const verdict = await holds.service.verify(withPayload(body, change(payload, path, value)))
        const { invalidReason } = verdict
        const isLong = value === tooLong && invalidReason === 'invalid_payload_structure'
        const isForm = invalidReason === prefixed('payload_format')
        // Without a type it is read as a payment that is to be collected.
        if (verdict.isValid || !(isLong || isForm || isOptional(path)))
          wrong.push({ path, value, invalidReason })
      }
    }
    expect(wrong).toEqual([])
    expect(await holds.read(hold)).toMatchObject({ capturableAmount: 10_000n })
  })

  it.each([
    ['a balance above uint120', { expectedCapturableAmount: String(2n ** 120n) }, 'payload_format'],
    ['an amount above uint120', { amount: String(2n ** 120n) }, 'authorizer_signature'],
  ] as const)('with %s are refused', async (_what, changes, reason) => {
    const hold = await holds.open()
    const capture = withPayload(await holds.capture(hold, 4_000n), changes)
    await expectRefused(scene, holds.service, capture, prefixed(reason))
  })

  it('with a signed amount above uint120 are refused', async () => {
    const hold = await holds.open()
    const capture = await holds.capture(hold, 2n ** 200n, untouched)
    await expectRefused(scene, holds.service, capture, prefixed('amount_mismatch'))
  })
})
