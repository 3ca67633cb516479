import { describe, expect, it } from 'vitest'
import { requireExactAmount } from '../../../src/chains/common/requireExactAmount.js'
import { readDirectBody } from '../../support/directScheme.js'
import { createToyScheme, toyAuthorized, toyBody } from '../../support/toyScheme.js'

const payment = readDirectBody(toyBody())
const required = payment.requirements.amount

describe('a scheme that settles the required amount only', () => {
  const verify = async (amount: bigint, { scheme = 'exact', isAdmitted = false } = {}) => {
    const toy = createToyScheme({
      kind: { scheme, network: 'toy:1' },
      verify: async (given) => toyAuthorized(given, { amount }),
    })
    const verdict = await requireExactAmount(toy).verify(payment, { isAwaited: () => true, isAdmitted })
    return verdict.isValid ? 'valid' : verdict
  }

  it('takes exactly the required amount', async () => {
    expect(await verify(required)).toBe('valid')
  })

  it('refuses more, and says how much', async () => {
    expect(await verify(required + 1n)).toMatchObject({
      reason: 'amount_mismatch',
      message: `The payment is of ${required + 1n}, and this facilitator settles exactly the required ${required} only`,
    })
  })

  it('settles more that was admitted before, that is charged by usage, or that the payer has sent', async () => {
    expect(await verify(required + 1n, { isAdmitted: true })).toBe('valid')
    expect(await verify(required - 1n, { scheme: 'upto' })).toBe('valid')
    expect(await verify(required + 1n, { scheme: 'exact-direct' })).toBe('valid')
  })
})
