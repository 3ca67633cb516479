import { concatHex, numberToHex, parseSignature } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalChain, startLocalChain } from '../../../../support/evm/localChain.js'
import { deployTestToken } from '../../../../support/evm/testTokens.js'
import { createTestRouter, type RouterPayment, type TestRouter } from '../../../../support/evm/uptoRouter.js'
import {
  createDelegatedEoa,
  createEoa,
  createMoodyWallet,
  createSafeWallet,
  createSoladyWallet,
  deployWallet,
  type PayerWallet,
} from '../../../../support/evm/wallets.js'

/* Who signs: accounts, contract wallets (EIP-1271) and accounts with code (EIP-7702). */

let chain: LocalChain
let router: TestRouter

beforeAll(async () => {
  chain = await startLocalChain()
  router = await createTestRouter(chain)
})
afterAll(() => chain.stop())

const refusalOf = (payment: RouterPayment): Promise<string> =>
  router.refusalOf({ functionName: 'settle', args: [payment] })
const fund = async (wallet: PayerWallet): Promise<PayerWallet> => {
  await chain.mint(wallet.address, 10_000n)
  return wallet
}

describe.each<[string, () => Promise<PayerWallet>]>([
  ['an account', async () => createEoa()],
  ['a Safe, whose signature has 65 bytes', async () => deployWallet(chain, await createSafeWallet(chain))],
  ['a wallet with a longer signature', async () => deployWallet(chain, await createSoladyWallet(chain))],
  [
    'an account with code that checks signatures',
    () => createDelegatedEoa(chain, { checksSignatures: true }),
  ],
])('a USDC permit of %s', (_what, create) => {
  it.each([false, true])('is settled; for the router of the recipient: %s', async (isBound) => {
    const payment = await router.sign({ wallet: await fund(await create()), isBound })
    expect((await router.settle(payment)).status).toBe('success')
    expect(await chain.balanceOf(payment.to)).toBe(600n)
  })

  it('is settled after another account submitted it, and with its own signature only', async () => {
    const wallet = await fund(await create())
    const payment = await router.sign({ wallet })
    expect((await router.frontRun(payment)).status).toBe('success')
    const { signature } = await router.sign({ wallet, permitNonce: 7n })
    expect(await refusalOf({ ...payment, signature })).toBe('InvalidPermitSignature')
    expect((await router.settle(payment)).status).toBe('success')
    expect(await chain.balanceOf(payment.to)).toBe(600n)
  })
})

describe('an account with code that checks no signatures', () => {
  it('cannot pay in USDC, which asks the code', async () => {
    const wallet = await fund(await createDelegatedEoa(chain, { checksSignatures: false }))
    expect(await refusalOf(await router.sign({ wallet }))).toBe('EIP2612: invalid signature')
  })

  it('pays in a token that asks the key, also after another account submitted the permit', async () => {
    const { token, mint, address, balanceOf } = await deployTestToken(chain, 'PermitToken')
    const wallet = await createDelegatedEoa(chain, { checksSignatures: false })
    await mint(wallet.address, 10_000n)
    const first = await router.sign({ wallet, token })
    expect((await router.settle(first)).status).toBe('success')
    const second = await router.sign({ wallet, token })
    expect((await router.frontRun(second)).status).toBe('success')
    expect((await router.settle(second)).status).toBe('success')
    expect(await balanceOf(second.to)).toBe(600n)
    expect(await router.nonceOf(address, wallet.address)).toBe(2n)
  })
})

describe('a signature', () => {
  it('in another form than the token takes is refused', async () => {
    const payment = await router.sign({ wallet: await fund(createEoa()) })
    const { r, s, yParity } = parseSignature(payment.signature)
    for (const signature of [
      '0x',
      concatHex([r, s]),
      concatHex([r, s, numberToHex(yParity)]),
      concatHex([payment.signature, '0x00']),
    ] as const) {
      expect(await refusalOf({ ...payment, signature })).toMatch(/^ECRecover: invalid signature/)
    }
  })

  it('with the high s is refused, also where the token is not asked', async () => {
    const payment = await router.sign({ wallet: await fund(createEoa()) })
    const { r, s, yParity } = parseSignature(payment.signature)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const high = numberToHex(order - BigInt(s), { size: 32 })
    const mirrored = { ...payment, signature: concatHex([r, high, numberToHex(28 - yParity)]) }
    expect(await refusalOf(mirrored)).toBe("ECRecover: invalid signature 's' value")
    await router.frontRun(payment)
    expect(await refusalOf(mirrored)).toBe('InvalidPermitSignature')
    expect((await router.settle(payment)).status).toBe('success')
  })

  it('does not make the zero address pay, for which the recovery of an invalid signature stands', async () => {
    const { token, mint, write } = await deployTestToken(chain, 'HostilePermitToken')
    const owner = `0x${'00'.repeat(20)}` as const
    await mint(owner, 10_000n)
    await write('setNonce', [owner, 1n])
    const payment = await router.sign({ wallet: { ...createEoa(), address: owner }, token, permitNonce: 0n })
    const { r, s } = parseSignature(payment.signature)
    const signature = concatHex([r, s, '0x1d'])
    expect(await refusalOf({ ...payment, signature })).toBe('InvalidPermitSignature')
  })

  it('that a wallet no longer accepts moves nothing', async () => {
    const wallet = await deployWallet(chain, await createMoodyWallet(chain, 'acceptsAll'))
    const payment = await router.sign({ wallet: await fund(wallet) })
    await router.frontRun(payment)
    const before = await chain.control.snapshot()
    await chain.control.setStorageAt(
      wallet.address,
      numberToHex(0, { size: 32 }),
      numberToHex(1, { size: 32 }),
    )
    expect(await refusalOf(payment)).toBe('InvalidPermitSignature')
    await chain.control.revert(before)
    expect((await router.settle(payment)).status).toBe('success')
  })
})
