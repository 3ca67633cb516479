import { describe, expect, it } from 'vitest'
import {
  type ConcurrencyLimitSettings,
  createConcurrencyLimits,
} from '../../../src/usecases/core/concurrencyLimits.js'

const limits = (settings: Partial<ConcurrencyLimitSettings> = {}) =>
  createConcurrencyLimits({ settlesAtOncePerPayer: 2, settlesAtOncePerCaller: 2, ...settings })

const tooMany = { code: 'RATE_LIMITED', retryAfterSeconds: 1 }

describe('the limits on what is under way at once', () => {
  it('refuse a caller who has as many requests under way as allowed, until one is over', () => {
    const { enterCaller } = limits()
    const leave = enterCaller('key-1')
    enterCaller('key-1')
    expect(() => enterCaller('key-1')).toThrow(expect.objectContaining(tooMany))
    leave()
    expect(() => enterCaller('key-1')).not.toThrow()
    expect(() => enterCaller('key-1')).toThrow(expect.objectContaining(tooMany))
  })

  it('hold for each caller and each payer by itself', () => {
    const { enterCaller, enterPayer } = limits()
    for (const name of ['one', 'one', 'two', 'two']) enterCaller(name)
    for (const name of ['one', 'two']) for (const id of ['a', 'b']) enterPayer(name, id)
    expect(() => enterCaller('two')).toThrow(expect.objectContaining(tooMany))
    expect(() => enterPayer('one', 'c')).toThrow(expect.objectContaining(tooMany))
    expect(() => enterPayer('three', 'c')).not.toThrow()
  })

  it('count the requests for one authorization as one', () => {
    const { enterPayer } = limits()
    const leaves = Array.from({ length: 20 }, () => enterPayer('alice', 'same'))
    const leaveOther = enterPayer('alice', 'other')
    expect(() => enterPayer('alice', 'third')).toThrow(expect.objectContaining(tooMany))
    for (const leave of leaves.slice(1)) leave()
    expect(() => enterPayer('alice', 'third')).toThrow(expect.objectContaining(tooMany))
    leaveOther()
    expect(() => enterPayer('alice', 'third')).not.toThrow()
  })

  it('are off where they are zero', () => {
    const { enterCaller } = limits({ settlesAtOncePerCaller: 0 })
    for (let count = 0; count < 100; count += 1) enterCaller('key-1')
    expect(() => enterCaller('key-1')).not.toThrow()
  })
})
