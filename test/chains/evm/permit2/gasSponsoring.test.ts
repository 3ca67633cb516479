import { UptoEvmScheme } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { randomAddress } from '../../../support/evm/authorization.js'
import type { WireRequirements } from '../../../support/evm/payment.js'
import { permit2Address, setUsdcAllowance } from '../../../support/evm/permit2.js'
import { createEoa, type EoaWallet } from '../../../support/evm/wallets.js'
import { openScene, type Scene } from '../scene.js'
import { deployRouter, openUpto, type UptoScene } from './upto/uptoScene.js'

let scene: Scene
let router: Address
let upto: UptoScene

beforeAll(async () => {
  scene = await openScene()
  router = await deployRouter(scene)
  upto = await openUpto(scene, { router })
})
afterEach(() => scene.reset())
afterAll(async () => {
  await upto.close()
  await scene.close()
})

const declared = { eip2612GasSponsoring: { info: { description: 'Gas', version: '1' }, schema: {} } }

const requirementsOf = (scheme: 'exact' | 'upto', payTo: Address): WireRequirements => {
  const { name, version, verifyingContract } = scene.chain.token
  return {
    scheme,
    network: scene.chain.network,
    amount: '10000',
    asset: verifyingContract,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version, assetTransferMethod: 'permit2', facilitatorAddress: router },
  }
}

interface Sponsored {
  readonly body: {
    readonly x402Version: 2
    readonly paymentPayload: Readonly<Record<string, unknown>>
    readonly paymentRequirements: WireRequirements
  }
  /** What the client wrote into the extension. */
  readonly info: Readonly<Record<string, unknown>>
  readonly wallet: EoaWallet
  readonly payTo: Address
}

/** Signed by the published client, which reads allowance and nonce from the chain; nothing is approved. */
const plan = async (scheme: 'exact' | 'upto'): Promise<Sponsored> => {
  const { chain } = scene
  const wallet = createEoa()
  const payTo = createEoa().address
  await chain.mint(wallet.address, 10_000n)
  const requirements = requirementsOf(scheme, payTo)
  const options = { rpcUrl: chain.url }
  const client =
    scheme === 'exact'
      ? new ExactEvmScheme(wallet.account, options)
      : new UptoEvmScheme(wallet.account, options)
  const { network: _, ...terms } = requirements
  const { payload, extensions = {} } = await client.createPaymentPayload(
    2,
    { ...terms, network: `eip155:${chain.chainId}` },
    { extensions: declared },
  )
  const { info } = Object(extensions.eip2612GasSponsoring)
  const resource = { url: 'https://merchant.example/report', description: 'A report', mimeType: 'text/plain' }
  return {
    body: {
      x402Version: 2,
      paymentPayload: { x402Version: 2, resource, accepted: requirements, payload, extensions },
      paymentRequirements: requirements,
    },
    info,
    wallet,
    payTo,
  }
}

const withInfo = ({ body, info }: Sponsored, change: object) => ({
  ...body,
  paymentPayload: {
    ...body.paymentPayload,
    extensions: { eip2612GasSponsoring: { info: { ...info, ...change } } },
  },
})

const permitAbi = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
])

describe("a payment of x402's client with eip2612GasSponsoring", () => {
  it('by upto is verified and charged, although nothing was approved', async () => {
    const { body, payTo } = await plan('upto')
    expect(await upto.verify(body)).toMatchObject({
      isValid: true,
      hold: { allowance: null, isGrantedAtSettle: true },
    })
    const charged = { ...body, paymentRequirements: { ...body.paymentRequirements, amount: '123' } }
    expect((await upto.settle(charged)).outcome).toMatchObject({ state: 'confirmed', settledAmount: 123n })
    expect(await scene.chain.balanceOf(payTo)).toBe(123n)
  })

  it('by exact is verified and settled, although nothing was approved', async () => {
    const service = await scene.open()
    const { body, payTo } = await plan('exact')
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('is settled although another account submitted the permit of the token first', async () => {
    const { chain } = scene
    const sponsored = await plan('upto')
    const { info, wallet, payTo, body } = sponsored
    const signature = String(info.signature)
    const stranger = createEoa()
    await chain.fundGas(stranger.address)
    const r: Hex = `0x${signature.slice(2, 66)}`
    const s: Hex = `0x${signature.slice(66, 130)}`
    const v = Number(`0x${signature.slice(130)}`)
    const { status } = await chain.send({
      account: stranger.account,
      to: chain.token.verifyingContract,
      data: encodeFunctionData({
        abi: permitAbi,
        functionName: 'permit',
        args: [wallet.address, permit2Address, 10_000n, BigInt(String(info.deadline)), v, r, s],
      }),
    })
    expect(status).toBe('success')
    expect((await upto.settle(body)).outcome).toMatchObject({ state: 'confirmed' })
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })

  it.each<[string, object, string]>([
    ['another owner', { from: randomAddress() }, 'eip2612_from_mismatch'],
    ['another token', { asset: randomAddress() }, 'eip2612_asset_mismatch'],
    ['another spender', { spender: randomAddress() }, 'eip2612_spender_not_permit2'],
    ['another amount', { amount: '10001' }, 'permit2_2612_amount_mismatch'],
    ['a deadline in the past', { deadline: '1' }, 'eip2612_deadline_expired'],
    ['another deadline', { deadline: '99999999999' }, 'invalid_permit_signature'],
    ['an amount that is no number', { amount: '1e3' }, 'invalid_eip2612_extension_format'],
    ['a short signature', { signature: '0x1234' }, 'invalid_eip2612_extension_format'],
    ['an owner that is no address', { from: '0x12' }, 'invalid_eip2612_extension_format'],
  ])('is refused for %s', async (_what, change, reason) => {
    expect(await upto.verify(withInfo(await plan('upto'), change))).toMatchObject({ isValid: false, reason })
  })

  it("is not asked for by what a server declares: then the payer's approval is missing", async () => {
    const { body } = await plan('upto')
    const echoed = { ...body, paymentPayload: { ...body.paymentPayload, extensions: declared } }
    expect(await upto.verify(echoed)).toMatchObject({ reason: 'permit2_allowance_required' })
  })

  it("also takes t402's form", async () => {
    const sponsored = await plan('upto')
    const { from, amount, deadline, signature } = sponsored.info
    const info = {
      network: scene.chain.network,
      permitSignature: signature,
      owner: from,
      spender: permit2Address,
      value: amount,
      deadline: Number(deadline),
    }
    const { body } = sponsored
    const asT402 = {
      ...body,
      paymentPayload: { ...body.paymentPayload, extensions: { eip2612GasSponsoring: info } },
    }
    expect((await upto.settle(asT402)).outcome).toMatchObject({ state: 'confirmed' })
    const elsewhere = { eip2612GasSponsoring: { ...info, spender: randomAddress() } }
    expect(
      await upto.verify({ ...body, paymentPayload: { ...body.paymentPayload, extensions: elsewhere } }),
    ).toMatchObject({ reason: 'eip2612_spender_not_permit2' })
  })
})

describe('a payment with erc20ApprovalGasSponsoring', () => {
  it('is refused with its own reason, and settled where the approval exists', async () => {
    const { body, wallet } = await plan('upto')
    const extensions = { erc20ApprovalGasSponsoring: { info: { signedTransaction: '0x02' } } }
    const asked = { ...body, paymentPayload: { ...body.paymentPayload, extensions } }
    expect(await upto.verify(asked)).toMatchObject({ reason: 'erc20_approval_not_sponsored' })
    await setUsdcAllowance(scene.chain, wallet.address)
    expect((await upto.settle(asked)).outcome).toMatchObject({ state: 'confirmed' })
  })
})
