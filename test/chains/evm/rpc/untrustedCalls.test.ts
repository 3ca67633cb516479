import { describe, expect, it } from 'vitest'
import { createUntrustedCalls, paymentShare } from '../../../../src/chains/evm/rpc/untrustedCalls.js'
import { systemClock } from '../../../../src/platform/clock.js'
import { createMemoryRateLimiter } from '../../../../src/stores/cache/rateLimiter.js'
import { rejectionOf } from '../../../support/rejectionOf.js'

describe('a call of code that a caller chose', () => {
  it('is answered as retryable when its deadline passes before that of any endpoint', async () => {
    const calls = createUntrustedCalls(
      {
        network: 'eip155:84532',
        rpc: { endpoints: [], listWitnesses: () => [], probe: () => new Promise(() => undefined) },
        rpcUrls: [],
        limiter: createMemoryRateLimiter({ clock: systemClock }),
        timeoutMs: 1,
      },
      paymentShare,
    )
    const request = { to: null, data: '0x', gas: 1_000_000n } as const
    const use = { requester: { name: 'someone', site: null }, occasion: 'check' } as const
    for (const work of [calls.call(request, use), calls.estimateGas(request, use)]) {
      expect(await rejectionOf(work)).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        operationalCode: 'SVC-2004',
        retryAfterSeconds: 2,
        cause: { message: 'The deadline passed' },
      })
    }
  })
})
