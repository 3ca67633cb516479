import { beforeAll, describe, expect, it } from 'vitest'
import { craftTransfer, parties } from '../../support/tron/craftTransfer.js'
import { createTronKey, fromHex, toHexAddress } from '../../support/tron/keys.js'
import { signWithOtherKey, toHighS } from '../../support/tron/signatureForms.js'
import { openScene, resolve, type Scene } from './scene.js'

const network = 'tron:nile'
const token = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

type Crafted = NonNullable<Parameters<typeof craftTransfer>[0]>

interface Plan {
  readonly crafted?: Crafted
  readonly requirements?: object
  readonly change?: (transaction: string) => string
  readonly authorization?: object
}

const pay = ({ crafted, requirements: changes, change = (same) => same, authorization }: Plan = {}) => {
  const transaction = craftTransfer({
    ...crafted,
    // The sandbox has the clock of its scene, which stands.
    raw: { expiration: scene.clock.now().getTime() + 60_000, ...crafted?.raw },
    trigger: { contract_address: fromHex(toHexAddress(token)), ...crafted?.trigger },
  })
  const requirements = {
    scheme: 'exact',
    network,
    amount: '10000',
    asset: token,
    payTo: parties.payee.address,
    maxTimeoutSeconds: 60,
    extra: {},
    ...changes,
  }
  const { payer, payee } = parties
  return {
    paymentPayload: {
      accepted: requirements,
      payload: {
        signedTransaction: change(transaction),
        authorization: {
          from: payer.address,
          to: payee.address,
          contractAddress: token,
          amount: '10000',
          ...authorization,
        },
      },
    },
    paymentRequirements: requirements,
  }
}

describe('exact on TRON nile', () => {
  it('verifies and settles what a wallet signs', async () => {
    const body = pay()
    expect(await scene.verify(body)).toMatchObject({
      isValid: true,
      payer: parties.payer.address,
      amount: 10_000n,
    })
    const { outcome, row, scheme } = await scene.settle(body)
    expect(outcome.state).toBe('confirmed')
    expect(row.transaction).toMatch(/^5a4db0[0-9a-f]{58}$/)
    expect(await resolve(scheme, row)).toEqual(outcome)
  })

  it.each([
    [
      'a recipient that was not signed',
      { requirements: { payTo: createTronKey().address } },
      'recipient_mismatch',
    ],
    ['an amount that is too low', { requirements: { amount: '10001' } }, 'insufficient_amount'],
    ['another token', { requirements: { asset: 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj' } }, 'asset_mismatch'],
    ['a token that is not listed', { requirements: { asset: createTronKey().address } }, 'unsupported_asset'],
    ['an expired transaction', { crafted: { raw: { expiration: 1 } } }, 'authorization_expired'],
    [
      'a transaction that expires too late',
      { crafted: { raw: { expiration: Date.now() + 3_600_000 } } },
      'authorization_expires_too_late',
    ],
    [
      'a fee limit that is too high',
      { crafted: { raw: { fee_limit: 1_000_000_001 } } },
      'fee_limit_too_high',
    ],
    [
      'a signature of another key',
      { change: (transaction: string) => signWithOtherKey(transaction, createTronKey()) },
      'invalid_exact_tron_signature',
    ],
    ['a malleable signature', { change: toHighS }, 'invalid_exact_tron_signature'],
    ['a copy that differs', { authorization: { amount: '20000' } }, 'transaction_verification_failed'],
  ] as const)('refuses %s', async (_title, plan, reason) => {
    expect(await scene.verify(pay(plan))).toMatchObject({ isValid: false, reason })
  })
})
