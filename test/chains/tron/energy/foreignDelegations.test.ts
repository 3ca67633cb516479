import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../../src/chains/tron/encoding/address.js'
import { createForeignDelegations } from '../../../../src/chains/tron/energy/delegations.js'
import { createTronKey } from '../../../support/tron/keys.js'

const receiver = readAddress(createTronKey().address)
if (receiver === null) throw new Error('No address')

/** Of what is as old as 180 s. */
const observeAll = (sums: readonly (readonly [now: number, sun: number])[]) => {
  const foreign = createForeignDelegations()
  return sums.map(([now, sun]) => foreign.observe(receiver, { sun, now, before: now - 180 }))
}

describe('delegations that this process did not make', () => {
  it('are old when their increase was seen long ago', () => {
    expect(
      observeAll([
        [0, 5],
        [100, 5],
        [179, 5],
        [180, 5],
      ]),
    ).toEqual([0, 0, 0, 5])
  })

  it('have an age each', () => {
    expect(
      observeAll([
        [0, 5],
        [100, 8],
        [180, 8],
        [280, 8],
      ]),
    ).toEqual([0, 0, 5, 8])
  })

  it('are not made younger by later ones that come and go', () => {
    expect(
      observeAll([
        [0, 5],
        [50, 8],
        [60, 5],
        [100, 9],
        [110, 5],
        [170, 7],
        [180, 7],
      ]),
    ).toEqual([0, 0, 0, 0, 0, 0, 5])
  })

  it('are less when the chain states less', () => {
    expect(
      observeAll([
        [0, 5],
        [10, 2],
        [180, 2],
        [190, 0],
        [400, 0],
      ]),
    ).toEqual([0, 0, 2, 0, 0])
  })

  it('begin anew for a receiver that had none meanwhile', () => {
    const foreign = createForeignDelegations()
    foreign.observe(receiver, { sun: 5, now: 0, before: -180 })
    foreign.keepOnly([])
    expect(foreign.observe(receiver, { sun: 5, now: 200, before: 20 })).toBe(0)
  })
})
