import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi, zeroAddress } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { randomAddress } from '../../../support/evm/authorization.js'
import {
  type CaptureBody,
  type Hold,
  type HoldPlan,
  planHold,
  published,
  signCapture,
  signCharge,
  signRefund,
  signVoid,
} from '../../../support/evm/holds.js'
import { createSoladyWallet, deployWallet } from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, openSlow, quickFinality, readOneBlockLater, type Service } from '../scene.js'
import { countSent } from '../strangers.js'

/* Holds, charges, captures, voids and refunds on a local chain with contracts that keep the rules of the published ones. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
let service: Service
let operator: Address

beforeEach(async () => {
  service = await scene.open()
  operator = service.signers[0]?.address ?? zeroAddress
})

const plan = (changes: HoldPlan = {}) => planHold(scene.chain, operator, changes)
const chainOf = () => ({ chainId: scene.chain.chainId })
const prefixed = (reason: string) => `invalid_auth_capture_evm_${reason}`
const balanceOf = (owner: Address) => scene.chain.balanceOf(owner)

const escrowAbi = parseAbi([
  'function paymentState(bytes32 hash) view returns (bool hasCollectedPayment, uint120 capturableAmount, uint120 refundableAmount)',
])

const readState = async ({ hash, version }: Hold) => {
  const [isCollected, capturable, refundable] = await scene.chain.client.readContract({
    address: published[version].escrow,
    abi: escrowAbi,
    functionName: 'paymentState',
    args: [hash],
  })
  return { isCollected, capturable, refundable }
}

const openHold = async (changes: HoldPlan = {}): Promise<Hold> => {
  const hold = await plan(changes)
  expect(await service.settle(hold.body)).toMatchObject({ success: true })
  return hold
}

const forms = (['1.1', '1.0'] as const).flatMap((version) =>
  (['eip3009', 'permit2'] as const).map((method) => ({ version, method })),
)

describe('a hold', () => {
  it.each(forms)('by $method in the escrow $version takes the funds, and pays nobody yet', async (form) => {
    const hold = await plan(form)
    expect(await service.verify(hold.body)).toEqual({ isValid: true, payer: hold.payer })
    expect(await service.settle(hold.body)).toMatchObject({
      success: true,
      amount: '0',
      maxAmount: '10000',
      payer: hold.payer,
    })
    expect(await readState(hold)).toEqual({ isCollected: true, capturable: 10_000n, refundable: 0n })
    expect(await balanceOf(hold.payer)).toBe(0n)
    expect(await balanceOf(hold.payTo)).toBe(0n)
  })

  it('is made by a deployed wallet', async () => {
    const wallet = await createSoladyWallet(scene.chain)
    await deployWallet(scene.chain, wallet)
    expect(await readState(await openHold({ wallet }))).toMatchObject({ capturable: 10_000n })
  })

  it('is made once: the same payment is a duplicate of another request', async () => {
    const hold = await openHold()
    const before = await countSent(scene, service)
    expect(await service.settle(hold.body)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    expect(await countSent(scene, service)).toBe(before)
  })

  it('is refused where the balance is short', async () => {
    const { body } = await plan({ balance: 9_999n })
    expect(await service.verify(body)).toMatchObject({ invalidReason: prefixed('insufficient_balance') })
  })
})

describe('a charge', () => {
  it.each(forms)(
    'by $method in the escrow $version pays what was used, less the fee, and returns the rest',
    async (form) => {
      const [feeReceiver, fee] = [randomAddress(), form.version === '1.1' ? 50n : 100n]
      const hold = await plan({ ...form, flow: 'authorization', extra: { maxFeeBps: 100 } })
      expect(await service.verify(hold.body)).toMatchObject({ isValid: true })
      const body = await signCharge(hold, { ...chainOf(), amount: 5_000n, fee, feeReceiver })
      expect(await service.settle(body)).toMatchObject({ success: true, amount: '5000', maxAmount: '10000' })
      expect(await balanceOf(hold.payTo)).toBe(4_950n)
      expect(await balanceOf(feeReceiver)).toBe(50n)
      expect(await balanceOf(hold.payer)).toBe(5_000n)
    },
  )
})

describe('a capture', () => {
  it.each(forms)('of a hold by $method in the escrow $version pays the receiver', async (form) => {
    const hold = await openHold(form)
    const body = await signCapture(
      hold,
      { capturable: 10_000n, refundable: 0n },
      { ...chainOf(), amount: 4_000n },
    )
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true, amount: '4000' })
    expect(await balanceOf(hold.payTo)).toBe(4_000n)
    expect(await readState(hold)).toMatchObject({ capturable: 6_000n, refundable: 4_000n })
  })

  it('is made once: replayed, it moves nothing', async () => {
    const hold = await openHold()
    const body = await signCapture(
      hold,
      { capturable: 10_000n, refundable: 0n },
      { ...chainOf(), amount: 4_000n },
    )
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    const other = await scene.open({ signers: service.signers })
    expect(await other.settle(body, 'another')).toMatchObject({ success: false })
    expect(await balanceOf(hold.payTo)).toBe(4_000n)
  })

  it('of equal amounts is made again by a new signature over the new balances', async () => {
    const hold = await openHold()
    const states = [
      { capturable: 10_000n, refundable: 0n },
      { capturable: 6_000n, refundable: 4_000n },
    ]
    for (const state of states) {
      const body = await signCapture(hold, state, { ...chainOf(), amount: 4_000n })
      expect(await service.settle(body)).toMatchObject({ success: true, amount: '4000' })
    }
    expect(await balanceOf(hold.payTo)).toBe(8_000n)
  })

  it('from one state is made once, whichever of two amounts comes first', async () => {
    const hold = await openHold()
    const state = { capturable: 10_000n, refundable: 0n }
    const bodies = [
      await signCapture(hold, state, { ...chainOf(), amount: 3_000n }),
      await signCapture(hold, state, { ...chainOf(), amount: 4_000n }),
    ]
    const answers = await Promise.all(bodies.map((body) => service.settle(body)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect([3_000n, 4_000n]).toContain(await balanceOf(hold.payTo))
  })

  it.each([
    ['another state', 'unexpected_payment_state', { capturable: 9_999n, refundable: 0n }, 1n],
    ['more than is held', 'amount_mismatch', { capturable: 10_000n, refundable: 0n }, 10_001n],
    ['nothing', 'amount_mismatch', { capturable: 10_000n, refundable: 0n }, 0n],
  ] as const)('of %s is refused as %s', async (_what, reason, state, amount) => {
    const hold = await openHold()
    const body = await signCapture(hold, state, { ...chainOf(), amount })
    expect(await service.settle(body)).toMatchObject({ errorReason: prefixed(reason), transaction: '' })
  })

  it('of a payment that was not collected is refused', async () => {
    const body = await signCapture(
      await plan(),
      { capturable: 0n, refundable: 0n },
      { ...chainOf(), amount: 1n },
    )
    expect(await service.settle(body)).toMatchObject({ errorReason: prefixed('unexpected_payment_state') })
  })

  it('fails, proven, when the hold is gone before it is mined', async () => {
    const slow = await openSlow(scene, { SETTLE_WAIT_SECONDS: '10' })
    operator = slow.service.signers[0]?.address ?? zeroAddress
    const hold = await plan()
    expect(await slow.service.settle(hold.body)).toMatchObject({ success: true })
    const body = await signCapture(
      hold,
      { capturable: 10_000n, refundable: 0n },
      { ...chainOf(), amount: 4_000n },
    )
    const answer = await slow.settleAfter(body, () => reclaim(hold))
    expect(await readOneBlockLater(scene, slow.service, answer)).toMatchObject({
      status: 'failed',
      errorReason: prefixed('unexpected_payment_state'),
    })
    expect(await balanceOf(hold.payTo)).toBe(0n)
  })
})

const infoAbi = parseAbi([
  'struct PaymentInfo { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }',
  'function void(PaymentInfo paymentInfo)',
])

/** As if the payer had reclaimed it: the funds leave the hold outside this service. */
const reclaim = async ({ info, version }: Hold): Promise<void> => {
  const data = encodeFunctionData({
    abi: infoAbi,
    functionName: 'void',
    args: [{ ...info, maxAmount: BigInt(info.maxAmount), salt: BigInt(info.salt) }],
  })
  await scene.chain.control.sendAs({
    from: info.operator,
    to: published[version].escrow,
    data,
    gas: 500_000n,
  })
}

describe('a void', () => {
  it.each(forms)(
    'of a hold by $method in the escrow $version returns the rest to the payer, once',
    async (form) => {
      const hold = await openHold(form)
      const capture = await signCapture(
        hold,
        { capturable: 10_000n, refundable: 0n },
        { ...chainOf(), amount: 4_000n },
      )
      expect(await service.settle(capture)).toMatchObject({ success: true })
      const body = await signVoid(hold, chainOf())
      expect(await service.settle(body)).toMatchObject({ success: true, amount: '0' })
      expect(await balanceOf(hold.payer)).toBe(6_000n)
      expect(await service.settle(body)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
      })
    },
  )

  it('of nothing is refused', async () => {
    const hold = await openHold()
    const all = await signCapture(
      hold,
      { capturable: 10_000n, refundable: 0n },
      { ...chainOf(), amount: 10_000n },
    )
    expect(await service.settle(all)).toMatchObject({ success: true })
    expect(await service.settle(await signVoid(hold, chainOf()))).toMatchObject({
      errorReason: prefixed('zero_authorization'),
    })
  })
})

describe('a refund', () => {
  const capturedHold = async (): Promise<Hold> => {
    const hold = await openHold()
    const body = await signCapture(
      hold,
      { capturable: 10_000n, refundable: 0n },
      { ...chainOf(), amount: 4_000n },
    )
    expect(await service.settle(body)).toMatchObject({ success: true })
    return hold
  }
  const state = { capturable: 6_000n, refundable: 4_000n }

  it('of more than was captured is refused', async () => {
    const body = await signRefund(await capturedHold(), state, { ...chainOf(), amount: 4_001n })
    expect(await service.settle(body)).toMatchObject({ errorReason: prefixed('refund_exceeds_capture') })
  })

  it('is refused where the operator has not agreed to pay it', async () => {
    const body = await signRefund(await capturedHold(), state, { ...chainOf(), amount: 4_000n })
    expect(await service.settle(body)).toMatchObject({ errorReason: prefixed('refund_funding_unavailable') })
  })

  it('is paid from what the operator holds and has approved, for a receiver that it lists', async () => {
    const payTo = randomAddress()
    service = await scene.open({ environment: { EVM_REFUND_RECEIVERS: payTo } })
    const [signer] = service.signers
    if (signer === undefined) throw new Error('There is no signer')
    operator = signer.address
    // Before the hold, whose settlement notices the nonce that this uses.
    await scene.chain.mint(operator, 2_000n)
    await approve(signer.address, published['1.1'].refund, 2_000n)
    const hold = await openHold({ payTo })
    const capture = await signCapture(
      hold,
      { capturable: 10_000n, refundable: 0n },
      { ...chainOf(), amount: 4_000n },
    )
    expect(await service.settle(capture)).toMatchObject({ success: true })
    const body = await signRefund(hold, state, { ...chainOf(), amount: 1_500n })
    expect(await service.settle(body)).toMatchObject({ success: true, amount: '0', maxAmount: '1500' })
    expect(await balanceOf(hold.payer)).toBe(1_500n)
    expect(await readState(hold)).toMatchObject({ capturable: 6_000n, refundable: 2_500n })
  })
})

const approve = async (owner: Address, spender: Hex, value: bigint): Promise<void> => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, value] })
  const to = scene.chain.token.verifyingContract
  await scene.chain.control.sendAs({ from: owner, to, data, gas: 100_000n })
}

describe('a process that dies', () => {
  it.each(['hold', 'capture', 'void'] as const)(
    'after it recorded a %s leaves it to the reconciler',
    async (kind) => {
      const proxy = await scene.openProxy()
      service = await scene.open({
        rpcUrls: [proxy.url],
        environment: { SETTLE_WAIT_SECONDS: '4', ...quickFinality(scene) },
      })
      operator = service.signers[0]?.address ?? zeroAddress
      const hold = await (kind === 'hold' ? plan() : openHold())
      const bodies: Readonly<Record<typeof kind, () => Promise<CaptureBody>>> = {
        hold: async () => hold.body,
        capture: () =>
          signCapture(hold, { capturable: 10_000n, refundable: 0n }, { ...chainOf(), amount: 4_000n }),
        void: () => signVoid(hold, chainOf()),
      }
      proxy.setFault('eth_getTransactionReceipt', { kind: 'refuse' })
      const answer = await service.settle(await bodies[kind]())
      expect(answer).toMatchObject({ errorReason: 'settlement_pending' })
      proxy.clearFaults()
      expect(await readOneBlockLater(scene, service, answer)).toMatchObject({
        status: 'confirmed',
        amount: kind === 'capture' ? '4000' : '0',
      })
      expect(await balanceOf(hold.payTo)).toBe(kind === 'capture' ? 4_000n : 0n)
    },
  )
})
