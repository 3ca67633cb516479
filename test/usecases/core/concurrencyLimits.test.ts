import { describe, expect, it } from 'vitest'
import { type ConcurrencyLimitSettings, createConcurrencyLimits } from '../../../src/usecases/core/limits.js'

const limits = (settings: Partial<ConcurrencyLimitSettings> = {}) =>
  createConcurrencyLimits({ settlesAtOncePerPayer: 2, settlesAtOncePerCaller: 2, ...settings })

const tooMany = { code: 'RATE_LIMITED', retryAfterSeconds: 1 }

describe('the concurrency limits', () => {
  it('reject a caller at the limit until one of its requests completes', () => {
    const { acquireCallerSlot } = limits()
    const release = acquireCallerSlot('key-1')
    acquireCallerSlot('key-1')
    expect(() => acquireCallerSlot('key-1')).toThrow(expect.objectContaining(tooMany))
    release()
    expect(() => acquireCallerSlot('key-1')).not.toThrow()
    expect(() => acquireCallerSlot('key-1')).toThrow(expect.objectContaining(tooMany))
  })

  it('apply to each caller and each payer separately', () => {
    const { acquireCallerSlot, acquirePayerSlot } = limits()
    for (const name of ['one', 'one', 'two', 'two']) acquireCallerSlot(name)
    for (const name of ['one', 'two']) for (const id of ['a', 'b']) acquirePayerSlot(name, id)
    expect(() => acquireCallerSlot('two')).toThrow(expect.objectContaining(tooMany))
    expect(() => acquirePayerSlot('one', 'c')).toThrow(expect.objectContaining(tooMany))
    expect(() => acquirePayerSlot('three', 'c')).not.toThrow()
  })

  it('count concurrent requests for one authorization once', () => {
    const { acquirePayerSlot } = limits()
    const releases = Array.from({ length: 20 }, () => acquirePayerSlot('alice', 'same'))
    const releaseOther = acquirePayerSlot('alice', 'other')
    expect(() => acquirePayerSlot('alice', 'third')).toThrow(expect.objectContaining(tooMany))
    for (const release of releases.slice(1)) release()
    expect(() => acquirePayerSlot('alice', 'third')).toThrow(expect.objectContaining(tooMany))
    releaseOther()
    expect(() => acquirePayerSlot('alice', 'third')).not.toThrow()
  })

  it('are off if they are 0', () => {
    const { acquireCallerSlot } = limits({ settlesAtOncePerCaller: 0 })
    for (let count = 0; count < 100; count += 1) acquireCallerSlot('key-1')
    expect(() => acquireCallerSlot('key-1')).not.toThrow()
  })
})
