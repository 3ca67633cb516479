import { describe, expect, it } from 'vitest'
import type { FundsHold } from '../../../src/ports/holds.js'
import type { Authorized, Hold } from '../../../src/schemes/scheme.js'
import { createHoldFunds } from '../../../src/usecases/core/verify/holdFunds.js'
import { createManualClock } from '../../support/manualClock.js'
import { plainPayment } from '../../support/plainPayment.js'

const aYear = 31_536_000
const clock = createManualClock()
const secondsFromNow = (date: Date | undefined) => ((date?.getTime() ?? 0) - clock.now().getTime()) / 1_000

/** Seconds for which funds are held that a request wants for a year. */
const holdForAYear = async (limits: Pick<Authorized, 'expiresAt'> & Pick<Hold, 'maxMs'>) => {
  const reserved: FundsHold[] = []
  const holdFunds = createHoldFunds({
    clock,
    holds: {
      place: async (reservation) => {
        reserved.push(reservation)
        const { authorizationId } = reservation
        return {
          state: 'held',
          receipt: { authorizationId, heldAt: '' },
        }
      },
      needsPromise: async () => true,
      findTaker: async () => null,
      releaseUnclaimed: async () => undefined,
    },
  })
  const { maxMs, expiresAt } = limits
  const authorized: Authorized = {
    isValid: true,
    payer: 'payer',
    authorizationId: 'authorization',
    amount: 1n,
    authorizedAmount: 1n,
    expiresAt,
    details: {},
    hold: { spender: 'source', balance: 1n, allowance: null, ...(maxMs === undefined ? {} : { maxMs }) },
    settle: async () => ({ state: 'pending', transaction: '' }),
  }
  const payment = plainPayment()
  const requirements = { ...payment.requirements, maxTimeoutSeconds: aYear }
  await holdFunds({ ...payment, requirements }, authorized, { caller: 'shop', purpose: 'settle' })
  return secondsFromNow(reserved[0]?.expiresAt)
}

describe('a hold that a request wants for a year', () => {
  it('ends within seconds where no settlement follows and the payer signed no end', async () => {
    expect(await holdForAYear({ expiresAt: null, maxMs: 15_000 })).toBe(15)
  })

  it('ends with the authorization', async () => {
    const expiresAt = new Date(clock.now().getTime() + 60_000)
    expect(await holdForAYear({ expiresAt })).toBe(60)
  })
})
