import { describe, expect, it } from 'vitest'
import { isRefused, readPayment } from '../../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import { deployAuthCapture } from '../../../support/evm/authCapture.js'
import {
  type CaptureBody,
  type Hold,
  type HoldPlan,
  planHold,
  signCharge,
  signVoid,
} from '../../../support/evm/holds.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { createMoodyWallet, deployWallet } from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openSchemeHarness } from '../schemeHarness.js'

/* A contract that decides for the receiver runs at our nodes: in the share of the caller that asks. */

const planMoody = async (chain: LocalChain, changes: HoldPlan = {}): Promise<Hold> => {
  const [operator] = chain.facilitators
  if (operator === undefined) throw new Error('The chain has no facilitator')
  const wallet = await createMoodyWallet(chain, 'refusesAll')
  await deployWallet(chain, wallet)
  const authorizer = { ...wallet.owner, address: wallet.address }
  return await planHold(chain, operator.address, { ...changes, authorizer })
}

type Sign = (chain: LocalChain) => Promise<CaptureBody>

const requests: readonly (readonly [string, boolean, Sign])[] = [
  ['a void', true, async (chain) => await signVoid(await planMoody(chain), { chainId: chain.chainId })],
  [
    'a charge',
    false,
    async (chain) =>
      await signCharge(await planMoody(chain, { flow: 'authorization' }), { chainId: chain.chainId }),
  ],
]

let counted: string[] = []
let sign: Sign | null = null

const harness = useScene(() =>
  openSchemeHarness(
    async (chain) => {
      if (sign === null) throw new Error('Nothing is signed')
      const body = await sign(chain)
      return { body, respelled: body, countReceived: async () => 0n }
    },
    {
      scheme: 'auth-capture',
      prepare: (chain) => deployAuthCapture(chain.url),
      onCounted: (key) => counted.push(key),
    },
  ),
)

describe('the contract of a receiver that decides', () => {
  it.each(requests)(
    'on %s uses no share of the payer that the request names',
    async (_what, isContinued, request) => {
      sign = request
      const { body } = await harness.plan()
      const payment = readPayment(wirePaymentRequest.parse(body))
      if (isRefused(payment)) throw new Error(payment.reason)
      // A pause of new payments keeps out what is none.
      expect(harness.scheme.continues?.(payment)).toBe(isContinued)
      counted = []
      const verdict = await harness.scheme.verify(payment, { isAwaited: () => true, caller: 'customer 7' })
      expect(verdict).toMatchObject({ reason: 'invalid_auth_capture_evm_authorizer_signature' })
      const untrusted = counted.filter((key) => key.startsWith('untrusted gas'))
      expect(untrusted).toHaveLength(1)
      expect(untrusted[0]).toMatch(/ customer 7$/)
    },
  )
})
