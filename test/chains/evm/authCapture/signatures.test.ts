import { zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  asHex,
  type CaptureBody,
  published,
  signCapture,
  signCharge,
  signRefund,
  signVoid,
  withPayload,
} from '../../../support/evm/holds.js'
import { toCompact, toParityV } from '../../../support/evm/signatureForms.js'
import {
  createDelegatedEoa,
  createEoa,
  createSoladyWallet,
  deployWallet,
  type PayerWallet,
} from '../../../support/evm/wallets.js'
import { silence, untouched, useSilentEscrows } from './scene.js'

/*
 * What the published client and the receiver's authorizer sign passes every rule up to the call of the escrow, which does not
 * answer here.
 */

const { scene, plan, chainOf } = useSilentEscrows()

const expectSigned = async (body: CaptureBody) => {
  expect(await scene.holds.service.verify(body)).toMatchObject({
    invalidReason: 'invalid_auth_capture_evm_simulation_failed',
    invalidMessage: 'The escrow does not answer what it knows of the payment',
  })
}

const forms = (['1.1', '1.0'] as const).flatMap((version) =>
  (['eip3009', 'permit2'] as const).flatMap((method) =>
    (['escrow', 'authorization'] as const).map((flow) => ({ version, method, flow })),
  ),
)

describe('a payment of the published client', () => {
  it.each(forms)('is signed for the escrow $version by $method in the flow $flow', async (form) => {
    await expectSigned((await plan(form)).body)
  })

  it.each(forms.filter(({ flow }) => flow === 'authorization'))(
    'is charged by the receiver under version $version by $method, with a fee in its units',
    async (form) => {
      const hold = await plan({ ...form, extra: { maxFeeBps: 100 } })
      const fee = form.version === '1.1' ? 50n : 100n
      await expectSigned(
        await signCharge(hold, { ...chainOf(), amount: 5_000n, fee, feeReceiver: scene.holds.operator }),
      )
    },
  )

  it.each([
    ['a deployed wallet (EIP-1271)', async () => deployed(await createSoladyWallet(scene.chain))],
    [
      'a key whose account has code (EIP-7702)',
      () => createDelegatedEoa(scene.chain, { checksSignatures: true }),
    ],
  ] as const)('is signed by %s', async (_what, create) => {
    await expectSigned((await plan({ wallet: await create() })).body)
  })

  it.each([
    ['64 bytes (EIP-2098)', toCompact],
    ['a v of 0 or 1', toParityV],
  ] as const)('is signed in another form: %s', async (_what, change) => {
    const { body } = await plan()
    const signature = change(asHex(body.paymentPayload.payload.signature))
    await expectSigned(withPayload(body, { signature }))
  })
})

const deployed = async (wallet: PayerWallet): Promise<PayerWallet> => {
  await deployWallet(scene.chain, wallet)
  return wallet
}

describe('a request of the receiver', () => {
  it.each(['1.1', '1.0'] as const)(
    'is signed for the operator, under version %s of the escrow',
    async (version) => {
      const hold = await plan({ version, extra: { maxFeeBps: 100 } })
      const fee = version === '1.1' ? 40n : 100n
      await expectSigned(
        await signCapture(hold, untouched, {
          ...chainOf(),
          amount: 4_000n,
          fee,
          feeReceiver: scene.holds.operator,
        }),
      )
      await expectSigned(await signVoid(hold, chainOf()))
      await expectSigned(await signRefund(hold, untouched, { ...chainOf(), amount: 1n }))
    },
  )

  it('is signed by a key only for the payments that name it', async () => {
    const [mine, other] = [await plan(), await plan()]
    const body = await signVoid({ ...mine, authorizer: other.authorizer }, chainOf())
    expect(await scene.holds.service.verify(body)).toMatchObject({
      invalidReason: 'invalid_auth_capture_evm_authorizer_signature',
    })
    await expectSigned(await signVoid(mine, { ...chainOf(), signer: createEoa(mine.authorizer.privateKey) }))
  })
})

describe('a network without an escrow', () => {
  it('does not list the scheme, and refuses it', async () => {
    await scene.chain.control.setCode(published['1.1'].escrow, '0x')
    const without = await scene.open()
    const { kinds } = without.core.useCases.core.listSupported()
    expect(kinds.map(({ scheme }) => scheme)).not.toContain('auth-capture')
    expect(await without.verify((await plan()).body)).toMatchObject({ invalidReason: 'unsupported_scheme' })
    await silence(scene, published['1.1'].escrow)
    const { kinds: listed } = (await scene.open()).core.useCases.core.listSupported()
    const versions = listed.filter(({ scheme }) => scheme === 'auth-capture').map((kind) => kind.x402Version)
    expect(new Set(versions)).toEqual(new Set([2]))
    expect(listed.find(({ scheme }) => scheme === 'auth-capture')?.extra).toMatchObject({
      operatorType: 'delegated',
      minFeeBps: 0,
      maxFeeBps: 0,
      feeRecipient: zeroAddress,
      assetTransferMethods: ['eip3009', 'permit2'],
    })
  })

  it('refuses the older escrow where only the newer one is', async () => {
    await scene.chain.control.setCode(published['1.0'].escrow, '0x')
    await expectSigned((await plan({ version: '1.0' })).body)
    await silence(scene, published['1.0'].escrow)
  })
})
